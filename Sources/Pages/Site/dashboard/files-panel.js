// The images and music of a show: upload, look at, remove.

import { h, keyed, setText, show as setShown } from '../shared/element.js';
import { bytes } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, upload } from './api.js';
import { poll } from './poll.js';
import { perform } from './toast.js';

const kinds = 'image/png,image/jpeg,image/webp,image/gif,image/bmp,audio/mpeg,audio/aac,audio/wav,audio/ogg,audio/flac';
/** The most bytes of a file, as the gateway has them. */
const largest = { image: 5 * 1024 * 1024, sound: 20 * 1024 * 1024 };

/**
 * A panel for a show.
 *
 * @param onFiles Called with the files whenever there are others.
 */
export function filesPanel({ base, onFiles }) {
  const input = h('input', { class: 'unseen', type: 'file', multiple: true, accept: kinds, on: { change: () => {
    add([...input.files]);
    input.value = '';
  } } });
  const drop = h('label', { class: 'drop', on: {
    dragover: (event) => {
      event.preventDefault();
      drop.classList.add('over');
    },
    dragleave: () => drop.classList.remove('over'),
    drop: (event) => {
      event.preventDefault();
      drop.classList.remove('over');
      add([...event.dataTransfer.files]);
    },
  } }, input, h('strong', {}, t('files.choose')), h('span', { class: 'soft hint' }, t('files.hint')));
  const list = h('ul', { class: 'outputs' });
  const underWay = h('ul', { class: 'outputs', 'aria-live': 'polite' });
  const element = h('section', { class: 'card files', 'aria-labelledby': 'files-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'files-title' }, t('files.title'))), drop, underWay, list);
  const path = (name) => `${base}/assets/${encodeURIComponent(name)}`;
  let files = [];
  let isLoaded = false;
  let uses = new Map();
  let uploads = [];
  let last = Promise.resolve();

  async function load() {
    if (!element.isConnected || element.closest('[hidden]')) return;
    const { assets } = await ask('GET', `${base}/assets`);
    isLoaded = true;
    const isNew = JSON.stringify(assets) !== JSON.stringify(files);
    files = assets;
    draw();
    if (isNew) onFiles(files);
  }

  function add(chosen) {
    for (const file of chosen) {
      const name = fileName(file.name);
      const problem = problemOf(file);
      if (!problem && files.some((one) => one.name === name) && !confirm(t('files.replaceQuestion', { name }))) continue;
      const one = { id: crypto.randomUUID(), name, share: 0, problem };
      uploads.push(one);
      // One after the other: a line that is slow is not shared.
      if (!problem) last = last.then(() => send(one, file));
    }
    draw();
  }

  async function send(one, file) {
    try {
      await upload(path(one.name), file, (share) => {
        one.share = share;
        draw();
      });
      uploads = uploads.filter((other) => other !== one);
      await load();
    } catch (error) {
      one.problem = error.message;
    }
    draw();
  }

  function uploadRow(one) {
    const state = h('span', { class: 'soft' });
    const bar = h('progress', { max: 1, 'aria-label': t('files.upload', { name: one.name }) });
    const dismiss = h('button', { class: 'button small', type: 'button', hidden: true, on: { click: () => {
      uploads = uploads.filter((other) => other !== one);
      draw();
    } } }, t('files.dismiss'));
    const row = h('li', { class: 'output' },
      h('div', { class: 'host-head' }, h('span', { class: 'name' }, one.name), h('span', { class: 'spacer' }), dismiss),
      bar, state);
    row.update = () => {
      setShown(bar, !one.problem);
      setShown(dismiss, Boolean(one.problem));
      if (one.share > 0) bar.value = one.share;
      state.classList.toggle('problem', Boolean(one.problem));
      setText(state, one.problem ?? t(one.share >= 1 ? 'files.checking' : one.share > 0 ? 'files.uploading' : 'files.waiting'));
    };
    return row;
  }

  function fileRow({ name }) {
    const image = h('img', { class: 'thumb', alt: '', loading: 'lazy' });
    const facts = h('p', { class: 'soft' });
    const open = h('a', { class: 'button small', href: path(name), target: '_blank', rel: 'noopener' }, t('files.open'));
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      const use = uses.get(name);
      if (!confirm(t(use ? 'files.removeUsed' : 'files.removeQuestion', { name, use }))) return;
      perform(removal, async () => {
        await ask('DELETE', path(name));
        await load();
      });
    } } }, t('common.remove'));
    const row = h('li', { class: 'output file' }, image,
      h('div', { class: 'file-text' }, h('span', { class: 'name' }, name), facts),
      h('div', { class: 'buttons' }, open, removal));
    row.update = ({ kind, content_type: type, size, version }) => {
      const address = `${path(name)}?${version}`;
      if (kind === 'image' && image.getAttribute('src') !== address) image.src = address;
      setShown(image, kind === 'image');
      const format = t(kind === 'image' ? 'files.image' : 'files.music', { kind: type.replace(/^.*\//, '') });
      setText(facts, [format, bytes(size), uses.get(name)].filter(Boolean).join(' · '));
    };
    return row;
  }

  function draw() {
    keyed(underWay, uploads, ({ id }) => id, uploadRow, (row) => row.update());
    keyed(list, files, ({ name }) => name, fileRow, (row, file) => row.update(file));
  }

  const stop = poll(5, load);
  // A file that is dropped beside the field would take the place of the page.
  const guard = (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  for (const kind of ['dragover', 'drop']) element.addEventListener(kind, guard);
  return {
    element,
    /** Takes what the files are used for, as words by their names. */
    update(next) {
      uses = next;
      if (isLoaded) draw();
      else load().catch(() => undefined);
    },
    close: stop,
  };
}

/** A name that the gateway takes, made of that of a file. */
export function fileName(name) {
  const plain = name.normalize('NFD').replaceAll(/[̀-ͯ]/g, '').replaceAll(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[.-]+/, '');
  const [, stem, ending] = /^(.*?)(\.[A-Za-z0-9]{1,5})?$/.exec(plain);
  return `${(stem || 'file').slice(0, 64 - (ending ?? '').length)}${ending ?? ''}`;
}

/** Why the gateway would refuse a file; null if nothing is known against it. */
function problemOf({ type, size }) {
  const kind = type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'sound' : null;
  if (kind === null && type !== '') return t('files.wrongKind');
  const limit = largest[kind] ?? largest.sound;
  return size > limit ? t('files.tooLarge', { size: bytes(size), most: limit / 1024 / 1024 }) : null;
}
