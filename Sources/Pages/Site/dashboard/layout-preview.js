// A layout as the mixer would draw it, in outlines.

import { h, vector } from '../shared/element.js';
import { t } from '../texts/dashboard-texts.js';

/** Draws the tiles of a layout; `update` takes a layout in the API's format. */
export function layoutPreview() {
  const image = vector('svg', { class: 'preview', role: 'img' });
  const element = h('div', { class: 'preview-frame' }, image);
  return {
    element,
    update({ width, height, tiles, theme }) {
      image.setAttribute('viewBox', `0 0 ${width} ${height}`);
      image.dataset.theme = theme === 'LIGHT' ? 'light' : 'dark';
      const names = tiles.map(({ label }) => label).join(', ');
      image.setAttribute('aria-label', tiles.length > 0 ? t('layout.tiles', { count: tiles.length, names }) : t('layout.noTiles'));
      image.replaceChildren(vector('rect', { class: 'canvas', width, height }), ...tiles.map(drawTile));
      if (tiles.length > 0) return;
      image.append(vector('text', { class: 'label', x: width / 2, y: height / 2, 'font-size': height / 14 }, t('layout.empty')));
    },
  };
}

function drawTile({ x, y, width, height, label, source, mic_on: hasMic, in_strip: isSmall }) {
  const group = vector('g', { class: `tile ${source}${isSmall ? ' small' : ''}` });
  const inset = 4;
  const box = { x: x + inset, y: y + inset, width: width - inset * 2, height: height - inset * 2, rx: 10 };
  const size = Math.max(18, Math.min(height / 5, width / 9, 56));
  const most = Math.max(3, Math.floor(width / (size * 0.62)));
  const words = label.length > most ? `${label.slice(0, most - 1)}…` : label;
  const kind = source === 'screen' ? t('layout.screen') : hasMic ? '' : t('layout.muted');
  group.append(vector('rect', box),
    vector('text', { class: 'label', x: x + width / 2, y: y + height / 2, 'font-size': size }, words));
  if (kind) {
    group.append(vector('text', { class: 'kind', x: x + width / 2, y: y + height / 2 + size, 'font-size': size * 0.6 }, kind));
  }
  return group;
}
