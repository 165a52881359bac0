/** Makes elements. Text is always set as text, never as markup. */

/**
 * An element with attributes and children.
 *
 * `on` is an object of event listeners; `data` sets data attributes; true sets an empty attribute; false, null, and
 * undefined set nothing.
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, { on, data, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const [name, value] of Object.entries(data ?? {})) node.dataset[name] = value;
  for (const [name, listener] of Object.entries(on ?? {})) node.addEventListener(name, listener);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function button(label, action, attributes = {}) {
  return element("button", { type: "button", ...attributes, on: { click: action } }, label);
}

/** Sets the text only if it differs, to avoid layout. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

let counter = 0;

export const uniqueID = (prefix) => `${prefix}-${(counter += 1)}`;

const counts = new Intl.NumberFormat("en");

export const inDigits = (number) => counts.format(number);

export const capitalized = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** "1 change", "2 changes". */
export const counted = (number, noun) => `${inDigits(number)} ${noun}${number === 1 ? "" : "s"}`;
