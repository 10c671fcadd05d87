// The settings of a show: its texts and times, its hosts' seats with their keys, and its saved outputs.

import { h, keyed, labelled, setText, show as setShown } from '../shared/element.js';
import { weekday } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { ask } from './api.js';
import { identityOf } from './new-show-view.js';
import { codeButton } from './qr-code.js';
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
  const save = h('button', { class: 'button main', type: 'submit' }, t('settings.save'));
  const removal = h('button', { class: 'button', type: 'button', on: { click: () => {
    if (!confirm(t('settings.deleteQuestion'))) return;
    perform(removal, async () => {
      await ask('DELETE', base);
      location.hash = '#/';
    });
  } } }, t('settings.delete'));
  const copy = h('button', { class: 'button', type: 'button', on: { click: () => {
    const name = prompt(t('settings.copyQuestion'));
    if (!name) return;
    perform(copy, async () => {
      const made = await ask('POST', `${base}/copy`, { name });
      location.hash = `#/show/${encodeURIComponent(made.name)}/settings`;
    });
  } } }, t('settings.copy'));
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
      }, t('common.saved'));
    },
  } },
  labelled(t('settings.name'), title), labelled(t('settings.description'), description),
  h('fieldset', { class: 'days' }, h('legend', { class: 'soft' }, t('settings.days')),
    ...days.map(({ input }, number) => h('label', { class: 'switch' }, input, weekday(number)))),
  h('div', { class: 'choices' }, labelled(t('settings.at'), time), labelled(t('settings.zone'), zone),
    labelled(t('settings.opens'), opens), labelled(t('settings.idle'), idle)),
  h('div', { class: 'switches' }, h('label', { class: 'switch' }, starts, t('settings.starts')),
    h('label', { class: 'switch' }, records, t('settings.records')),
    h('label', { class: 'switch' }, replays, t('settings.replays'))),
  mayCommand ? h('div', { class: 'buttons' }, save, copy, removal) : null);
  const element = h('section', { class: 'card', 'aria-labelledby': 'settings-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'settings-title' }, t('settings.title'))), form);
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
  const empty = h('p', { class: 'soft' }, t('outputs.noneSaved'));
  const input = (label, properties) => {
    const field = h('input', { class: 'field', required: true, spellcheck: 'false', ...properties });
    return { field, element: labelled(label, field) };
  };
  const name = input(t('outputs.name'), { pattern: '[A-Za-z0-9_\\-]{1,64}', autocomplete: 'off' });
  const url = input(t('outputs.address'), { type: 'url', placeholder: 'rtmp://', autocomplete: 'off' });
  const key = input(t('outputs.key'), { type: 'password', autocomplete: 'new-password' });
  const save = h('button', { class: 'button', type: 'submit' }, t('outputs.save'));
  let isLive = false;
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(save, async () => {
      await ask('POST', `${base}/outputs`, { name: name.field.value, url: url.field.value, stream_key: key.field.value });
      form.reset();
    }, t(isLive ? 'outputs.nowStarted' : 'outputs.nowSaved'));
  } } }, name.element, url.element, key.element, save);
  const element = h('section', { class: 'card', 'aria-labelledby': 'saved-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'saved-title' }, t('outputs.saved'))), list, empty,
    mayCommand ? form : null);

  function savedOutput({ name: one }) {
    const target = h('p', { class: 'soft target' });
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (confirm(t('outputs.forgetQuestion', { name: one }))) {
        perform(removal, () => ask('DELETE', `${base}/outputs/${encodeURIComponent(one)}`), t('outputs.forgotten'));
      }
    } } }, t('outputs.forget'));
    const row = h('li', { class: 'output' },
      h('div', { class: 'host-head' }, h('span', { class: 'name' }, one), h('span', { class: 'spacer' }),
        mayCommand ? removal : null), target);
    row.update = (output) => setText(target, output.url);
    return row;
  }

  return {
    element,
    update({ outputs, current }) {
      isLive = current?.state === 'live';
      setShown(empty, outputs.length === 0);
      keyed(list, outputs, ({ name: one }) => one, savedOutput, (row, output) => row.update(output));
    },
  };
}

/** The seats of a show, with what a host needs for its encoder. */
export function seatsPanel({ base, mayCommand }) {
  const list = h('ul', { class: 'outputs' });
  const empty = h('p', { class: 'soft' }, t('seats.empty'));
  const name = h('input', { class: 'field', required: true, autocomplete: 'off', maxlength: 100 });
  const add = h('button', { class: 'button', type: 'submit' }, t('seats.add'));
  const form = h('form', { class: 'plan', on: { submit: (event) => {
    event.preventDefault();
    perform(add, async () => {
      await ask('POST', `${base}/seats`, { identity: identityOf(name.value, list.children.length), display_name: name.value });
      form.reset();
    });
  } } }, labelled(t('seats.name'), name), add);
  const element = h('section', { class: 'card', 'aria-labelledby': 'seats-title' },
    h('div', { class: 'card-head' }, h('h2', { id: 'seats-title' }, t('seats.title'))), empty, list,
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
      setText(reveal, t(isShown ? 'seats.hideKey' : 'seats.showKey'));
      setShown(keyLine, isShown);
    } } }, t('seats.showKey'));
    const copy = h('button', { class: 'button small', type: 'button', on: {
      click: () => copyForEncoder(seat),
    } }, t('common.copyForEncoder'));
    const code = codeButton({
      kind: 'small', hint: t('code.hostHint'), title: () => t('code.host', { name: seat.display_name }),
      link: () => `${ingestOf(seat).url}/${ingestOf(seat).stream_key}`,
    });
    const renew = h('button', { class: 'button small', type: 'button', on: { click: () => {
      const question = t('seats.newKeyQuestion', { name: seat.display_name });
      if (confirm(question)) perform(renew, async () => row.update(await ask('POST', `${path}/key`)), t('seats.newKeyMade'));
    } } }, t('seats.newKey'));
    const removal = h('button', { class: 'button small', type: 'button', on: { click: () => {
      if (confirm(t('seats.removeQuestion', { name: seat.display_name }))) perform(removal, () => ask('DELETE', path));
    } } }, t('common.remove'));
    const keyLine = h('p', { hidden: true }, h('span', { class: 'soft' }, t('seats.key')), ' ', key);
    const row = h('li', { class: 'output' }, h('div', { class: 'host-head' }, title),
      h('p', {}, h('span', { class: 'soft' }, t('seats.server')), ' ', server), keyLine,
      h('div', { class: 'buttons' }, copy, code, reveal, renew, removal));
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
