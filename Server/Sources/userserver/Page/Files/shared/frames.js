/**
 * Renders at most once per animation frame.
 *
 * If rendering takes long, the next frame is left to the browser, so that keys and clicks are answered in between.
 */
const waiting = new Set();
let isScheduled = false;
let notBefore = 0;

/** Calls a task in the next frame; a task that already waits is called once. */
export function inNextFrame(task) {
  waiting.add(task);
  if (isScheduled) return;
  isScheduled = true;
  // A hidden page has no frames. It is rendered anyway, because a window can be hidden and still be captured or read.
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
    // One view must not keep the others from being rendered.
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
  // A frame that was requested while the page was visible does not come while it is hidden.
  if (isScheduled) setTimeout(() => isScheduled && render(), 250);
});
