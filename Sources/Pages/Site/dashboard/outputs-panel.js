// Where the program is pushed: how each output is doing, and a button for those that are not.

import { h, icon, keyed, labelled, setText, show } from '../shared/element.js';
import { bytes, clock } from '../shared/format.js';
import { t, wordOf } from '../texts/dashboard-texts.js';
import { ask, roomPath } from './api.js';
import { perform } from './toast.js';

const tones = { connected: 'good', connecting: 'warn', interrupted: 'warn', failed: 'bad', stopped: '' };
const livestreamTones = {
  LIVESTREAM_STARTING: 'warn', LIVESTREAM_STARTED: 'good', LIVESTREAM_STOPPING: 'warn', LIVESTREAM_STOPPED: '',
};

/**
 * A panel for a room.
 *
 * @param mayCommand Whether there are buttons.
 * @param isOfShow Whether outputs are added to the show, in its own form.
 */
export function outputsPanel(room, { mayCommand, isOfShow }) {
  const list = h('ul', { class: 'outputs' });
  const state = h('span', { class: 'badge' });
  const warnings = h('ul', { class: 'warnings' });
  const empty = h('p', { class: 'soft', hidden: true }, t('outputs.empty'));
  const stop = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    click: () => {
      if (confirm(t('outputs.stopQuestion'))) perform(stop, () => ask('POST', roomPath(room, '/livestream/stop')));
    },
  } }, t('outputs.stopAll'));
  const element = h('section', { class: 'card', 'aria-labelledby': 'outputs-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'outputs-title' }, t('outputs.title')), h('span', { class: 'spacer' }), state),
    list, stop, empty, warnings, mayCommand && !isOfShow ? outputForm(room, () => isRunning) : null);
  let isRunning = false;
  return {
    element,
    update({ livestream, warnings: latest }) {
      if (!livestream) return;
      isRunning = ['LIVESTREAM_STARTING', 'LIVESTREAM_STARTED'].includes(livestream.state);
      state.className = `badge ${livestreamTones[livestream.state] ?? ''}`;
      setText(state, wordOf('outputs.livestream', livestream.state));
      show(empty, livestream.outputs.length === 0);
      const running = livestream.outputs.filter((output) => output.state !== 'stopped');
      keyed(list, livestream.outputs, ({ name }) => name,
        ({ name }) => outputRow(room, name, mayCommand), (row, output) => row.update(output, isRunning, running.length === 1));
      show(stop, mayCommand && isRunning && running.length > 1);
      keyed(warnings, latest, ({ ts, message }) => `${ts} ${message}`,
        ({ ts, reason, code, message, output, seconds_left: seconds, isError }) => h('li', { class: isError ? 'bad' : '' },
          h('time', { class: 'soft' }, clock(Date.parse(ts), true)), ' ',
          isError ? wordOf('errors', code, message) : wordOf('outputs.warnings', reason, message, { output, seconds })),
        () => undefined);
    },
  };
}

function outputRow(room, name, mayCommand) {
  const state = h('span', { class: 'badge' });
  const target = h('p', { class: 'soft target' });
  const figures = h('p', { class: 'soft' });
  const problem = h('p', { class: 'problem', hidden: true });
  // The target's own words, and those of the system.
  const detail = h('p', { class: 'soft target', lang: 'en', hidden: true });
  const path = roomPath(room, `/livestream/outputs/${encodeURIComponent(name)}`);
  const retry = h('button', {
    class: 'button small', type: 'button', hidden: true,
    on: { click: () => perform(retry, () => ask('POST', `${path}/retry`), t('outputs.retrying', { name })) },
  }, icon('retry'), t('outputs.retry'));
  let isOnly = false;
  const stop = h('button', { class: 'button small', type: 'button', hidden: true, on: {
    // The last one ends the livestream.
    click: () => perform(stop, () => (isOnly ? ask('POST', roomPath(room, '/livestream/stop')) : ask('DELETE', path)),
      t('outputs.stopped', { name })),
  } }, t('outputs.stop'));
  const row = h('li', { class: 'output' },
    h('div', { class: 'host-head' }, h('span', { class: 'name' }, name), h('span', { class: 'spacer' }), retry, stop, state),
    target, figures, problem, detail);
  row.update = (output, isRunning, isTheOnly) => {
    isOnly = isTheOnly;
    show(stop, mayCommand && isRunning && output.state !== 'stopped');
    state.className = `badge ${tones[output.state] ?? ''}`;
    const word = wordOf('outputs.states', output.state);
    setText(state, output.on_spare ? t('outputs.onSpare', { state: word }) : word);
    setText(target, t('outputs.target', { url: output.url, key: output.stream_key }));
    const parts = [t('outputs.sent', { size: bytes(output.bytes_sent) })];
    if (output.reconnects > 0) parts.push(t('outputs.reconnects', { count: output.reconnects }));
    if (output.dropped_frames > 0) parts.push(t('outputs.dropped', { count: output.dropped_frames }));
    setText(figures, parts.join(' · '));
    const isWell = output.state === 'connected';
    const fault = isWell ? null : output.last_error;
    show(problem, Boolean(fault));
    show(detail, Boolean(fault));
    if (fault) {
      setText(problem, wordOf('outputs.faults', fault.code, fault.message));
      setText(detail, fault.message);
    }
    show(retry, mayCommand && isRunning && ['failed', 'interrupted', 'connecting'].includes(output.state));
  };
  return row;
}

/** Adds an output, or starts the livestream with it. */
function outputForm(room, isRunning) {
  const field = (name, properties) => h('input', { class: 'field', name, required: true, spellcheck: 'false', ...properties });
  const name = field('name', { pattern: '[A-Za-z0-9_\\-]{1,64}', autocomplete: 'off' });
  const url = field('url', { type: 'url', placeholder: 'rtmp://', autocomplete: 'off' });
  const key = field('key', { type: 'password', autocomplete: 'new-password' });
  const button = h('button', { class: 'button main', type: 'submit' }, t('outputs.start'));
  const form = h('form', { class: 'output-form', on: {
    submit: (event) => {
      event.preventDefault();
      const output = { name: name.value, url: url.value, stream_key: key.value };
      perform(button, async () => {
        if (isRunning()) await ask('POST', roomPath(room, '/livestream/outputs'), output);
        else await ask('POST', roomPath(room, '/livestream/start'), { outputs: [output] });
        form.reset();
        details.open = false;
      }, t('outputs.connecting', { name: output.name }));
    },
  } }, labelled(t('outputs.name'), name), labelled(t('outputs.address'), url), labelled(t('outputs.key'), key), button);
  const details = h('details', { class: 'more' }, h('summary', {}, t('outputs.more')), form);
  return details;
}
