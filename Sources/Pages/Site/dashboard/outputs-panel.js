// Where the program is pushed: how each output is doing, and a button for those that are not.

import { h, icon, keyed, labelled, setText, show } from '../shared/element.js';
import { bytes, clock } from '../shared/format.js';
import { ask, roomPath } from './api.js';
import { perform } from './toast.js';

const tones = { connected: 'good', connecting: 'warn', interrupted: 'warn', failed: 'bad', stopped: '' };
const livestreams = {
  LIVESTREAM_STARTING: ['warn', 'starting'], LIVESTREAM_STARTED: ['good', 'live'],
  LIVESTREAM_STOPPING: ['warn', 'stopping'], LIVESTREAM_STOPPED: ['', 'stopped'],
};

/** A panel for a room; `mayCommand` shows the buttons. */
export function outputsPanel(room, { mayCommand }) {
  const list = h('ul', { class: 'outputs' });
  const state = h('span', { class: 'badge' });
  const warnings = h('ul', { class: 'warnings' });
  const empty = h('p', { class: 'soft', hidden: true }, 'There are no outputs.');
  const form = outputForm(room, () => isRunning);
  const element = h('section', { class: 'card', 'aria-labelledby': 'outputs-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'outputs-title' }, 'Outputs'), h('span', { class: 'spacer' }), state),
    list, empty, warnings, mayCommand ? form : null);
  let isRunning = false;
  return {
    element,
    update({ livestream, warnings: latest }) {
      if (!livestream) return;
      isRunning = ['LIVESTREAM_STARTING', 'LIVESTREAM_STARTED'].includes(livestream.state);
      const [tone, words] = livestreams[livestream.state] ?? ['', livestream.state];
      state.className = `badge ${tone}`;
      setText(state, words);
      show(empty, livestream.outputs.length === 0);
      keyed(list, livestream.outputs, ({ name }) => name,
        ({ name }) => outputRow(room, name, mayCommand), (row, output) => row.update(output, isRunning));
      keyed(warnings, latest, ({ ts, message }) => `${ts} ${message}`,
        ({ ts, message, isError }) => h('li', { class: isError ? 'bad' : '' },
          h('time', { class: 'soft' }, clock(Date.parse(ts), true)), ' ', message), () => undefined);
    },
  };
}

function outputRow(room, name, mayCommand) {
  const state = h('span', { class: 'badge' });
  const target = h('p', { class: 'soft target' });
  const figures = h('p', { class: 'soft' });
  const problem = h('p', { class: 'problem', hidden: true });
  const path = roomPath(room, `/livestream/outputs/${encodeURIComponent(name)}`);
  const retry = h('button', {
    class: 'button small', type: 'button', hidden: true,
    on: { click: () => perform(retry, () => ask('POST', `${path}/retry`), `${name}: trying again now`) },
  }, icon('retry'), 'Retry');
  const row = h('li', { class: 'output' },
    h('div', { class: 'host-head' }, h('span', { class: 'name' }, name), h('span', { class: 'spacer' }), retry, state),
    target, figures, problem);
  row.update = (output, isRunning) => {
    state.className = `badge ${tones[output.state] ?? ''}`;
    setText(state, output.on_spare ? `${output.state}, spare` : output.state);
    setText(target, `${output.url} · key ${output.stream_key}`);
    const parts = [`${bytes(output.bytes_sent)} sent`];
    if (output.reconnects > 0) parts.push(`${output.reconnects} reconnects`);
    if (output.dropped_frames > 0) parts.push(`${output.dropped_frames} dropped`);
    setText(figures, parts.join(' · '));
    const isWell = output.state === 'connected';
    show(problem, !isWell && Boolean(output.last_error));
    setText(problem, output.last_error?.message ?? '');
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
  const button = h('button', { class: 'button main', type: 'submit' }, 'Start streaming');
  const form = h('form', { class: 'output-form', on: {
    submit: (event) => {
      event.preventDefault();
      const output = { name: name.value, url: url.value, stream_key: key.value };
      perform(button, async () => {
        if (isRunning()) await ask('POST', roomPath(room, '/livestream/outputs'), output);
        else await ask('POST', roomPath(room, '/livestream/start'), { outputs: [output] });
        form.reset();
        details.open = false;
      }, `${output.name}: connecting`);
    },
  } }, labelled('Name', name), labelled('Address', url), labelled('Stream key', key), button);
  const stop = h('button', { class: 'button small', type: 'button', on: {
    click: () => {
      if (confirm('Stop every output of this room?')) perform(stop, () => ask('POST', roomPath(room, '/livestream/stop')));
    },
  } }, 'Stop all outputs');
  const details = h('details', { class: 'more' }, h('summary', {}, 'Stream to another platform, or stop'), form, stop);
  return details;
}
