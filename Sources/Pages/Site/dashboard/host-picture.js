// A host as it is seen: its tile, cut out of the program's latest picture, or else what its camera sends.

import { h, setText, show } from '../shared/element.js';

const width = 256;
const height = 144;

/** A small picture, with initials while there is none. */
export function hostPicture() {
  const canvas = h('canvas', { width, height, hidden: true });
  const initials = h('span', {});
  const element = h('div', { class: 'host-picture', 'aria-hidden': 'true' }, initials, canvas);
  let isTile = false;

  /** Draws the middle of an area of an image, as much as fills the canvas. */
  function paint(image, x, y, across, down) {
    const share = Math.min(across / width, down / height);
    const [w, d] = [width * share, height * share];
    canvas.getContext('2d').drawImage(image, x + (across - w) / 2, y + (down - d) / 2, w, d, 0, 0, width, height);
    show(canvas, true);
  }

  return {
    element,
    /** Whether it shows a part of the program. */
    get isTile() { return isTile; },
    /** Takes the name of the host. */
    update(name) {
      setText(initials, initialsOf(name));
    },
    /**
     * Draws the host's part of the program.
     *
     * @param program An image or a video.
     * @param layout The layout of the program.
     * @param tile The tile of the host; undefined without one.
     */
    draw(program, layout, tile) {
      const wide = program?.videoWidth || program?.naturalWidth || 0;
      const wasTile = isTile;
      isTile = Boolean(tile) && wide > 0;
      if (wasTile && !isTile) show(canvas, false);
      if (!isTile) return;
      const scale = wide / layout.width;
      paint(program, tile.x * scale, tile.y * scale, tile.width * scale, tile.height * scale);
    },
    /** Fetches what the camera sends; null where it sends nothing. */
    async load(path) {
      const response = path === null ? null
        : await fetch(path, { signal: AbortSignal.timeout(8000), cache: 'no-cache' }).catch(() => null);
      const image = response?.ok ? await createImageBitmap(await response.blob()).catch(() => null) : null;
      if (!isTile) {
        if (image) paint(image, 0, 0, image.width, image.height);
        else show(canvas, false);
      }
      image?.close();
    },
  };
}

/** The first letters of the first and of the last word of a name. */
export function initialsOf(name) {
  const words = name.split(/\s+/).filter(Boolean);
  return [words[0], words.length > 1 ? words.at(-1) : ''].map((word) => [...word ?? ''][0] ?? '').join('').toUpperCase();
}
