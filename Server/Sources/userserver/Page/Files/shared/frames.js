/**
 * Renders at most once per animation frame.
 *
 * After slow rendering, the browser has the next frame to handle keys and clicks.
 */
const waiting = new Set();
let isScheduled = false;
let notBefore = 0;

/** Calls a task in the next frame, only once even if it was already waiting. */
export function inNextFrame(task) {
  waiting.add(task);
  if (isScheduled) return;
  isScheduled = true;
  // A hidden page has no frames, but is rendered anyway: a hidden window can be captured or read.
  if (document.hidden) setTimeout(render, 250);
  else requestAnimationFrame(render);
}

function render() {
  const start = performance.now();
  if (start < notBefore && !document.hidden) {
    requestAnimationFrame(render);
    return;
  }
  isScheduled = false;
  const tasks = [...waiting];
  waiting.clear();
  for (const task of tasks) {
    // One view's error must not prevent rendering the others.
    try {
      task();
    } catch (error) {
      reportError(error);
    }
  }
  const end = performance.now();
  notBefore = end - start > 8 ? end + (end - start) * 2 : 0;
}

document.addEventListener("visibilitychange", () => {
  // A requested frame does not come while the page is hidden.
  if (isScheduled) setTimeout(() => isScheduled && render(), 250);
});
