// A host as it is seen: what its camera sends.

import { h, setText, show } from '../shared/element.js';

const width = 256;
const height = 144;

/** A small picture, with initials while there is none. */
export function hostPicture() {
  const canvas = h('canvas', { width, height, hidden: true });
  const initials = h('span', {});
  const element = h('div', { class: 'host-picture', 'aria-hidden': 'true' }, initials, canvas);

  /** Draws the middle of an image, as much as fills the canvas. */
  function paint(image) {
    const share = Math.min(image.width / width, image.height / height);
    const [across, down] = [width * share, height * share];
    canvas.getContext('2d')
      .drawImage(image, (image.width - across) / 2, (image.height - down) / 2, across, down, 0, 0, width, height);
  }

  return {
    element,
    /** Takes the name of the host. */
    update(name) {
      setText(initials, initialsOf(name));
    },
    /** Fetches what the camera sends; null where it sends nothing. */
    async load(path) {
      const response = path === null ? null
        : await fetch(path, { signal: AbortSignal.timeout(8000), cache: 'no-cache' }).catch(() => null);
      const image = response?.ok ? await createImageBitmap(await response.blob()).catch(() => null) : null;
      if (image) paint(image);
      show(canvas, image !== null);
      image?.close();
    },
  };
}

/** The first letters of the first and of the last word of a name. */
export function initialsOf(name) {
  const words = name.split(/\s+/).filter(Boolean);
  return [words[0], words.length > 1 ? words.at(-1) : ''].map((word) => [...word ?? ''][0] ?? '').join('').toUpperCase();
}
