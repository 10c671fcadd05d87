// The scenes of a show: what is on air, what comes next, and the list to direct by.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { marked } from '../shared/texts.js';
import { t } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { layoutPreview } from './layout-preview.js';
import { areKeysOn, sceneKeys, turnKeys } from './scene-keys.js';
import { moved, sceneOnAir, settingsOf, withScene } from './scene-list.js';
import { perform, toast } from './toast.js';

const previewAfter = 200;

/** A panel for a show, and a card with the scene that comes next (`next`). */
export function scenesPanel({ base, room, mayCommand }) {
  let scenes = [];
  let layout = null;
  let taken = null;
  let here = { place: -1, isChanged: false };
  let timer = null;
  let isTaking = false;
  let episode = null;
  let isOver = false;

  const preview = layoutPreview();
  const title = h('span', { class: 'name' });
  const back = h('button', { class: 'button', type: 'button', on: { click: () => step(-1) } }, t('scenes.back'));
  const forward = h('button', { class: 'button main', type: 'button', on: { click: () => step(1) } }, t('scenes.forward'));
  const next = h('section', { class: 'card next-scene', 'aria-labelledby': 'next-title', hidden: true }, preview.element,
    h('div', { class: 'next-text' }, h('h2', { id: 'next-title' }, t('scenes.next')), title,
      mayCommand ? h('div', { class: 'buttons' }, back, forward) : null));

  const list = h('ol', { class: 'scenes' });
  const empty = h('p', { class: 'soft' }, t('scenes.empty'));
  const name = h('input', { class: 'field', name: 'scene', required: true, maxlength: 64, autocomplete: 'off' });
  const save = h('button', { class: 'button', type: 'submit' }, t('scenes.save'));
  const form = h('form', { class: 'scene-form', on: { submit: (event) => {
    event.preventDefault();
    perform(save, async () => {
      await store(name.value.trim(), (all, scene) => withScene(all, scene));
      form.reset();
    }, t('common.saved'));
  } } }, labelled(t('scenes.name'), name), save);
  const switches = h('input', { type: 'checkbox', checked: areKeysOn(), on: { change: () => turnKeys(switches.checked) } });
  const keyLine = h('div', { class: 'scene-keys', hidden: true }, h('label', { class: 'switch' }, switches, t('scenes.keys')),
    h('span', { class: 'soft' }, ...marked(t('scenes.keysHint'))));
  const element = h('section', { class: 'card', 'aria-labelledby': 'scenes-title', hidden: true },
    h('div', { class: 'card-head' }, h('h2', { id: 'scenes-title' }, t('scenes.title'))), empty, list,
    mayCommand ? keyLine : null, mayCommand ? form : null);

  async function take(scene, button) {
    // A key that is pressed twice does not skip a scene that was not seen yet.
    if (isTaking) return;
    isTaking = true;
    await perform(button, async () => {
      const answer = await ask('POST', `${base}/scenes/${encodeURIComponent(scene)}/take`);
      taken = scene;
      layout = answer;
    });
    isTaking = false;
    draw();
  }

  /** Finds out which scene was taken before this page was opened. */
  async function recall(of) {
    const { moments } = await ask('GET', `${base}/episodes/${of}/moments`).catch(() => ({ moments: [] }));
    const last = moments.findLast(({ kind }) => kind === 'scene_taken');
    if (!last || taken !== null || episode !== of) return;
    taken = last.name;
    draw();
  }

  /** Takes the next scene, or the one before. */
  function step(by) {
    const target = scenes[here.place + by];
    if (target) take(target.name, by > 0 ? forward : back);
  }

  /** Changes the list as the gateway has it now. */
  async function change(edit) {
    const present = await ask('GET', base);
    const answer = await ask('PATCH', base, { scenes: edit(present.scenes) });
    scenes = answer.scenes;
    draw();
  }

  /** Changes the list by a scene that is what is on air. */
  async function store(scene, edit) {
    if (!scene) throw new Error(t('scenes.needsName'));
    const present = settingsOf(await ask('GET', roomPath(room, '/layout')));
    taken = scene;
    await change((all) => edit(all, { name: scene, layout: present }));
  }

  function sceneRow({ name: scene }) {
    const key = h('span', { class: 'soft scene-number' });
    const badge = h('span', { class: 'badge', hidden: true });
    const button = (label, work, said) => {
      const made = h('button', { class: 'button small', type: 'button', on: {
        click: () => perform(made, work, said).then(draw),
      } }, label);
      return made;
    };
    const taking = h('button', { class: 'button small', type: 'button', 'aria-label': t('scenes.takeNamed', { scene }), on: {
      click: () => take(scene, taking),
    } }, t('scenes.take'));
    const up = button(t('scenes.up'), () => change((all) => moved(all, scene, -1)));
    const down = button(t('scenes.down'), () => change((all) => moved(all, scene, 1)));
    const tools = h('details', { class: 'scene-tools' }, h('summary', { 'aria-label': t('scenes.changeNamed', { scene }) },
      t('scenes.change')),
      h('div', { class: 'buttons' }, button(t('scenes.rename'), async () => {
        const other = prompt(t('scenes.renameQuestion'), scene)?.trim();
        if (!other || other === scene) return;
        if (scenes.some((one) => one.name === other)) throw new Error(t('scenes.exists', { scene: other }));
        await change((all) => all.map((one) => (one.name === scene ? { ...one, name: other } : one)));
        if (taken === scene) taken = other;
        draw();
      }), up, down, button(t('scenes.replace'), async () => {
        if (!confirm(t('scenes.replaceQuestion', { scene }))) return;
        await store(scene, (all, one) => withScene(all, one));
        toast(t('scenes.replaced', { scene }));
      }), button(t('common.remove'), async () => {
        if (confirm(t('scenes.removeQuestion', { scene }))) await change((all) => all.filter((one) => one.name !== scene));
      })));
    const row = h('li', { class: 'scene' },
      h('div', { class: 'host-head' }, key, h('span', { class: 'name' }, scene), badge, h('span', { class: 'spacer' }),
        mayCommand ? taking : null), mayCommand ? tools : null);
    row.taking = taking;
    row.update = (place) => {
      const isHere = place === here.place;
      const isNext = place === here.place + 1;
      setText(key, String(place + 1));
      setShown(badge, isHere || isNext);
      badge.className = `badge ${isHere ? (here.isChanged ? 'warn' : 'live') : ''}`;
      setText(badge, t(!isHere ? 'scenes.isNext' : here.isChanged ? 'scenes.changed' : 'scenes.onAir'));
      row.setAttribute('aria-current', String(isHere));
      up.disabled = place === 0;
      down.disabled = place === scenes.length - 1;
    };
    return row;
  }

  function draw() {
    here = sceneOnAir(scenes, layout, taken);
    // Where it was before something was changed by hand.
    if (here.place >= 0) taken = scenes[here.place].name;
    const places = new Map(scenes.map((scene, place) => [scene.name, place]));
    keyed(list, scenes, (scene) => scene.name, sceneRow, (row, scene) => row.update(places.get(scene.name)));
    const isAny = scenes.length > 0;
    setShown(empty, !isAny);
    setShown(keyLine, isAny);
    setShown(next, isAny && layout !== null);
    const following = scenes[here.place + 1];
    setText(title, following?.name ?? t('scenes.last'));
    setShown(preview.element, Boolean(following));
    forward.disabled = !following;
    back.disabled = here.place < 1;
    clearTimeout(timer);
    if (following && layout) timer = setTimeout(() => showNext(following), previewAfter);
  }

  /** Draws the tiles that a scene would have with the hosts of the moment. */
  async function showNext(scene) {
    try {
      const answer = await ask('POST', roomPath(room, '/layout/preview'), { layout: scene.layout });
      if (!isOver && scenes[here.place + 1]?.name === scene.name) preview.update(answer);
    } catch {
      // The next change of the room tries again.
    }
  }

  const stop = mayCommand ? sceneKeys((kind, place) => {
    if (!switches.checked || scenes.length === 0 || !layout || !element.isConnected || element.closest('[hidden]')) return false;
    if (kind !== 'take') step(kind === 'next' ? 1 : -1);
    else if (scenes[place]) take(scenes[place].name, list.children[place].taking);
    return true;
  }) : () => undefined;
  return {
    element,
    next,
    /** Takes the show as it is. */
    update(show) {
      setShown(element, Array.isArray(show.scenes));
      const present = show.current?.id ?? null;
      if (present !== episode) {
        episode = present;
        if (present) recall(present);
      }
      const isNew = JSON.stringify(show.scenes ?? []) !== JSON.stringify(scenes);
      scenes = show.scenes ?? [];
      if (isNew) draw();
    },
    /** Takes the layout on air; null without an open episode. */
    air(present) {
      if (present === layout) return;
      layout = present;
      draw();
    },
    close() {
      isOver = true;
      clearTimeout(timer);
      stop();
    },
  };
}
