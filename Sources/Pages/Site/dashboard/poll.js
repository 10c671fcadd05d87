// Asks again and again, with care: never twice at once, slower in the background and after failures.

/**
 * Begins to call `work` every so many seconds.
 *
 * @param onHealth Called with true after each success and false after each failure.
 * @returns What ends it.
 */
export function poll(seconds, work, onHealth = () => undefined) {
  let isOver = false;
  let failures = 0;
  let timer = null;
  const turn = async () => {
    try {
      await work();
      failures = 0;
      if (!isOver) onHealth(true);
    } catch (error) {
      failures += 1;
      if (!isOver) onHealth(false, error);
    }
    if (isOver) return;
    const wait = document.hidden ? Math.max(seconds * 5, 15) : seconds * Math.min(2 ** failures, 8);
    timer = setTimeout(turn, wait * 1000 * (0.95 + Math.random() * 0.1));
  };
  const wake = () => {
    if (document.hidden || isOver || timer === null) return;
    clearTimeout(timer);
    timer = null;
    turn();
  };
  document.addEventListener('visibilitychange', wake);
  turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', wake);
  };
}
