// Paper is white, whatever theme the screen has.

/**
 * Sets the light theme while the page is printed.
 *
 * @param redraw Called with true before and with false after, to draw what does not follow the theme by itself.
 * @returns What ends it.
 */
export function whenPrinted(redraw) {
  const { dataset } = document.documentElement;
  let before;
  const begin = () => {
    before = dataset.theme;
    dataset.theme = 'light';
    redraw(true);
  };
  const end = () => {
    if (before) dataset.theme = before;
    else delete dataset.theme;
    redraw(false);
  };
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}
