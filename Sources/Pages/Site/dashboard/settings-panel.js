// The settings of a show: its texts and times, its hosts' seats with their keys, and its saved outputs.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { ask } from './api.js';
import { identityOf } from './new-show-view.js';
import { copyForEncoder, ingestOf } from './seat-settings.js';
import { perform } from './toast.js';

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** A form for a show's texts and times, and one for its outputs (`outputs`). */
export function settingsPanel({ base, mayCommand }) {
  const disabled = !mayCommand;
  const title = h('input', { class: 'field', maxlength: 200, disabled });
  const description = h('textarea', { class: 'field', rows: 4, maxlength: 4000, disabled });
  const days = weekdays.map((day) => ({ day, input: h('input', { type: 'checkbox', disabled }) }));
  const time = h('input', { class: 'field', type: 'time', disabled });
  const zone = h('input', { class: 'field', disabled, spellcheck: 'false' });
  const opens = h('input', { class: 'field', type: 'number', min: 0, max: 10_080, disabled });
  const idle = h('input', { class: 'field', type: 'number', min: 1, max: 10_080, disabled });
  const starts = h('input', { type: 'checkbox', disabled });
  const records = h('input', { type: 'checkbox', disabled });
  const replays = h('input', { type: 'checkbox', disabled });
  const save = h('button', { class: 'button main', type: 'submit' }, 'Save');
  const removal = h('button', { class: 'button', type: 'button', on: { click: () => {
    if (!confirm('Delete this show with its seats and keys? Recordings and figures of its episodes stay.')) return;
    perform(removal, async () => {
      await ask('DELETE', base);
      location.hash = '#/';
    });
  } } }, 'Delete show');
  const copy = h('button', { class: 'button', type: 'button', on: { click: () => {
    const name = prompt('Name of the copy, in addresses:');
    if (!name) return;
    perform(copy, async () => {
      const made = await ask('POST', `${base}/copy`, { name });
      location.hash = `#/show/${encodeURIComponent(made.name)}/settings`;
    });
  } } }, 'Copy show');
  let isDirty = false;
  const form = h('form', { class: 'settings', on: {
    input: () => { isDirty = true; },
    submit: (event) => {
      event.preventDefault();
      perform(save, async () => {
        const chosen = days.filter(({ input }) => input.checked).map(({ day }) => day);
        await ask('PATCH', base, {
          title: title.value, description: description.value, time_zone: zone.value,
          schedule: chosen.length > 0 && time.value ? { weekdays: chosen, time: time.value } : null,
          opens_before: Number(opens.value) * 60, idle_timeout: Number(idle.value) * 60,
          starts_by_itself: starts.checked, recording: records.checked, replay: replays.checked,
        });
        isDirty = false;
      }, 'Saved');
    },
  } },
  labelled('Title', title), labelled('Description', description),
  h('fieldset', { class: 'days' }, h('legend', { class: 'soft' }, 'Takes place every'),
    ...days.map(({ day, input }) => h('label', { class: 'switch' }, input, day[0].toUpperCase() + day.slice(1)))),
  h('div', { class: 'choices' }, labelled('At', time), labelled('Time zone', zone),
    labelled('Opens for hosts, minutes before', opens), labelled('Ends after minutes without hosts', idle)),
  h('div', { class: 'switches' }, h('label', { class: 'switch' }, starts, 'Goes live by itself at the planned time'),
    h('label', { class: 'switch' }, records, 'Record what is live'),
    h('label', { class: 'switch' }, replays, 'Let everyone watch the recording until the next episode')),
  mayCommand ? h('div', { class: 'buttons' }, save, copy, removal) : null);
  const element = h('section', { class: 'card', 'aria-labelledby': 'settings-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'settings-title' }, 'Show')), form);
  const outputs = outputsForm({ base, mayCommand });

  return {
    element,
    outputs: outputs.element,
    update(show) {
      outputs.update(show);
      // What is being written stays.
      if (isDirty || form.contains(document.activeElement)) return;
      title.value = show.title;
      description.value = show.description;
      zone.value = show.time_zone;
      time.value = show.schedule?.time ?? '';
      for (const { day, input } of days) input.checked = show.schedule?.weekdays.includes(day) ?? false;
      opens.value = Math.round(show.opens_before / 60);
      idle.value = Math.round(show.idle_timeout / 60);
      starts.checked = show.starts_by_itself;
      records.checked = show.recording;
      replays.checked = show.replay;
    },
  };
}

/** The outputs that start whenever an episode goes live. */
function outputsForm({ base, mayCommand }) {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft' }, 'None: the program goes to viewers of this gateway only.');
  const input = (label, properties) => {
    const field = h('input', { class: 'field', required: true, spellcheck: 'false', ...properties });
    return { field, element: labelled(label, field) };
  };
  const name = input('Name', { pattern: '[A-Za-z0-9_\\-]{1,64}', autocomplete: 'off' });
  const url = input('Address', { type: 'url', placeholder: 'rtmp://', autocomplete: 'off' });
  const key = input('Stream key', { type: 'password', autocomplete: 'new-password' });
  const save = h('button', { class: 'button', type: 'submit' }, 'Save output');
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(save, async () => {
      await ask('POST', `${base}/outputs`, { name: name.field.value, url: url.field.value, stream_key: key.field.value });
      form.reset();
    }, 'Saved: it starts when the show goes live');
  } } }, name.element, url.element, key.element, save);
  const element = h('section', { class: 'card', 'aria-labelledby': 'saved-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'saved-title' }, 'Starts with every episode')), list, empty,
    mayCommand ? form : null);

  function savedOutput({ name: one }) {
    const target = h('p', { class: 'soft target' });
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (confirm(`Forget the output ${one}?`)) {
        perform(removal, () => ask('DELETE', `${base}/outputs/${encodeURIComponent(one)}`), 'Forgotten');
      }
    } } }, 'Forget');
    const row = h('li', { class: 'output' },
      h('div', { class: 'host-head' }, h('span', { class: 'name' }, one), h('span', { class: 'spacer' }),
        mayCommand ? removal : null), target);
    row.update = (output) => setText(target, output.url);
    return row;
  }

  return {
    element,
    update({ outputs }) {
      setShown(empty, outputs.length === 0);
      keyed(list, outputs, ({ name: one }) => one, savedOutput, (row, output) => row.update(output));
    },
  };
}

/** The seats of a show, with what a host needs for its encoder. */
export function seatsPanel({ base, mayCommand }) {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft' }, 'There are no seats. Add one for each host.');
  const name = h('input', { class: 'field', required: true, autocomplete: 'off', maxlength: 100 });
  const add = h('button', { class: 'button', type: 'submit' }, 'Add host');
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(add, async () => {
      await ask('POST', `${base}/seats`, { identity: identityOf(name.value, list.children.length), display_name: name.value });
      form.reset();
    });
  } } }, labelled('Name', name), add);
  const element = h('section', { class: 'card', 'aria-labelledby': 'seats-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'seats-title' }, 'Hosts and their keys')), empty, list,
    mayCommand ? form : null);

  function seatRow({ identity }) {
    const path = `${base}/seats/${encodeURIComponent(identity)}`;
    const title = h('span', { class: 'name' });
    const server = h('code', { class: 'secret' });
    const key = h('code', { class: 'secret' });
    let seat = null;
    const reveal = h('button', { class: 'button small', type: 'button', 'aria-expanded': 'false', on: { click: () => {
      const isShown = reveal.getAttribute('aria-expanded') !== 'true';
      reveal.setAttribute('aria-expanded', String(isShown));
      setText(reveal, isShown ? 'Hide key' : 'Show key');
      setShown(keyLine, isShown);
    } } }, 'Show key');
    const copy = h('button', { class: 'button small', type: 'button', on: {
      click: () => copyForEncoder(seat),
    } }, 'Copy for OBS');
    const renew = h('button', { class: 'button small', type: 'button', on: { click: () => {
      const question = `Make a new key for ${seat.display_name}? The present one ends at once.`;
      if (confirm(question)) perform(renew, async () => row.update(await ask('POST', `${path}/key`)), 'A new key is made');
    } } }, 'New key');
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (confirm(`Remove the seat of ${seat.display_name}?`)) perform(removal, () => ask('DELETE', path));
    } } }, 'Remove');
    const keyLine = h('p', { hidden: true }, h('span', { class: 'soft' }, 'Stream key '), key);
    const row = h('li', { class: 'output' }, h('div', { class: 'host-head' }, title),
      h('p', {}, h('span', { class: 'soft' }, 'Server '), server), keyLine,
      h('div', { class: 'buttons' }, copy, reveal, renew, removal));
    row.update = (next) => {
      seat = next;
      setText(title, seat.display_name);
      setText(server, ingestOf(seat).url);
      setText(key, ingestOf(seat).stream_key);
    };
    return row;
  }

  return {
    element,
    update({ seats }) {
      setShown(empty, seats.length === 0);
      keyed(list, seats, ({ identity }) => identity, seatRow, (row, seat) => row.update(seat));
    },
  };
}
