// The page of a show: a bar that stays, and tabs for studio, outputs, audience, recordings and settings.

import { h, icon, setText, show as setShown } from '../shared/element.js';
import { duration, timeIn } from '../shared/format.js';
import { t } from '../texts/dashboard-texts.js';
import { APIError, ask } from './api.js';
import { audiencePanel } from './audience-panel.js';
import { episodesPanel } from './episodes-panel.js';
import { filesPanel } from './files-panel.js';
import { loadOf } from './gateway-texts.js';
import { lookPanel, usesOf } from './look-panel.js';
import { poll } from './poll.js';
import { mixPanel, programPanel } from './program-settings.js';
import { codeButton } from './qr-code.js';
import { recordingsPanel } from './recordings-panel.js';
import { roomParts } from './room-parts.js';
import { scenesPanel } from './scenes-panel.js';
import { seatsPanel, settingsPanel } from './settings-panel.js';
import { stateOf } from './shows-panel.js';
import { ticketsPanel } from './tickets-panel.js';
import { perform } from './toast.js';

const tabs = ['studio', 'outputs', 'audience', 'recordings', 'settings'];

/** The view of a show by its name. */
export function showView(name, { mayCommand, onHealth, tab = 'studio', chosen = [] }) {
  const base = `/v1/shows/${encodeURIComponent(name)}`;
  const options = { base, mayCommand };
  const title = h('h1', {}, name);
  const watchPage = new URL(`/watch/${encodeURIComponent(name)}`, location).href;
  const state = h('span', { class: 'badge' });
  const clock = h('span', { class: 'soft' });
  const viewers = h('span', { class: 'soft' });
  const health = h('p', { class: 'notice', role: 'status', hidden: true });
  const missing = h('p', { class: 'notice', hidden: true }, t('show.missing'));
  const command = (label, path, question, kind = '') => {
    const button = h('button', { class: `button ${kind}`, type: 'button', hidden: true, on: { click: () => {
      if (question && !confirm(question)) return;
      perform(button, async () => {
        // As it is now, so that no second episode is planned.
        const { current, next } = await ask('GET', base);
        if (path !== 'end' && !current && !next) await ask('POST', `${base}/episodes`, {});
        await ask('POST', `${base}/episodes/current/${path}`);
        await refresh();
      });
    } } }, label);
    return button;
  };
  const open = command(t('show.open'), 'open');
  const goLive = command(t('show.goLive'), 'go_live', t('show.goLiveQuestion'), 'main');
  const comeBack = command(t('show.comeBack'), 'go_live', null, 'main');
  const pause = h('button', { class: 'button', type: 'button', hidden: true, on: { click: () => {
    perform(pause, async () => {
      await ask('POST', `/v1/rooms/${encodeURIComponent(name)}/stop_live`);
      await refresh();
    }, t('show.paused'));
  } } }, t('show.pause'));
  const end = command(t('show.end'), 'end', t('show.endQuestion'));
  const record = h('button', { class: 'button', type: 'button', hidden: true, on: { click: () => {
    perform(record, async () => {
      await ask('POST', `/v1/rooms/${encodeURIComponent(name)}/recording/${isRecording ? 'stop' : 'start'}`, {});
      await refresh();
    });
  } } }, t('show.record'));
  const panels = new Map(tabs.map((id) => [id, h('div', { id: `tab-${id}`, role: 'tabpanel', 'aria-labelledby': `to-${id}` })]));
  const links = tabs.map((id) => h('a', {
    id: `to-${id}`, role: 'tab', href: `#/show/${encodeURIComponent(name)}/${id}`, 'aria-controls': `tab-${id}`,
  }, t(`show.tabs.${id}`)));
  const list = h('div', { class: 'tabs', role: 'tablist', 'aria-label': t('show.parts'), on: { keydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = links.indexOf(document.activeElement);
    links[(place + step + links.length) % links.length].focus();
  } } }, ...links);
  const closed = h('section', { class: 'card closed' });
  const seats = seatsPanel(options);
  const settings = settingsPanel(options);
  const program = programPanel(options);
  const mix = mixPanel({ ...options, name });
  const tickets = mayCommand ? ticketsPanel({ base, name }) : null;
  const episodes = episodesPanel({ ...options, name });
  const recordings = recordingsPanel(options);
  const scenes = scenesPanel({ ...options, room: name });
  const look = lookPanel({ ...options, room: name });
  const files = filesPanel({ base, onFiles: (list) => {
    look.offer(list);
    stored = list;
    parts?.hosts.equip({ files: list });
  } });
  let stored = [];
  let onAir = null;
  const studio = h('div', {});
  const outputs = h('div', {});
  const audience = audiencePanel({ base, name, episodes });
  panels.get('studio').append(closed, studio,
    h('div', { class: 'studio-files' }, look.element, mayCommand ? files.element : null));
  panels.get('outputs').append(outputs, settings.outputs);
  panels.get('audience').append(audience.element);
  panels.get('recordings').append(recordings.element);
  panels.get('settings').append(h('div', { class: 'columns' },
    h('div', { class: 'column' }, settings.element, episodes.planning, seats.element, tickets?.element ?? null),
    h('div', { class: 'column' }, program.element, mix.element)));
  const select = (id, ...rest) => {
    const wanted = panels.has(id) ? id : 'studio';
    for (const [one, panel] of panels) setShown(panel, one === wanted);
    for (const [place, link] of links.entries()) {
      link.setAttribute('aria-selected', String(tabs[place] === wanted));
      link.tabIndex = tabs[place] === wanted ? 0 : -1;
      // On a phone not all tabs fit.
      if (tabs[place] === wanted) requestAnimationFrame(() => { list.scrollLeft = link.offsetLeft - list.offsetLeft - 24; });
    }
    if (wanted === 'audience') audience.select(...rest);
  };
  select(tab, ...chosen);
  const element = h('div', { class: 'show-page' },
    h('div', { class: 'show-bar' },
      h('a', { class: 'button plain', href: '#/', 'aria-label': t('page.allShows') }, icon('back')),
      title, state, clock, viewers, h('span', { class: 'spacer' }),
      h('a', { class: 'button', href: watchPage, target: '_blank', rel: 'noopener' },
        icon('open'), h('span', { class: 'wide' }, t('page.watchPage'))),
      codeButton({
        content: [icon('code'), h('span', { class: 'wide' }, t('code.show'))], link: () => show.url ?? watchPage,
        title: () => t('code.watchPage', { show: show.title || name }),
      }),
      ...(mayCommand ? [open, record, goLive, pause, comeBack, end] : [])),
    missing, health, list, ...panels.values());

  let show = { current: null, next: null };
  let parts = null;
  let room = null;
  let isRecording = false;
  let isClosed = false;
  let isShown = false;

  /** Shows a button, or hides it; one that appears where another was takes no second click of that. */
  function offer(button, isOffered) {
    if (isOffered && button.hidden && isShown) {
      button.disabled = true;
      setTimeout(() => { button.disabled = false; }, 800);
    }
    setShown(button, isOffered);
  }

  function takeLayout(layout) {
    onAir = layout;
    scenes.air(layout);
    look.air(layout);
  }

  function follow(sid) {
    if (sid === room) return;
    parts?.close();
    parts = null;
    room = sid;
    for (const place of [studio, outputs, audience.live]) place.replaceChildren();
    takeLayout(null);
    setShown(health, false);
    setText(viewers, '');
    if (!sid) return;
    parts = roomParts(name, {
      mayCommand, isOfShow: true, onHealth, onMissing: () => undefined,
      onState: ({ viewership, layout, isEnded }) => {
        takeLayout(isEnded ? null : layout);
        if (viewership) setText(viewers, t('common.watching', { count: viewership.concurrent_viewers }));
      },
      onDiagnosis: ({ program }) => {
        setShown(health, program.advice !== '');
        setText(health, loadOf(program));
      },
    });
    parts.hosts.equip({ seats: show.seats, files: stored });
    // In the order of reading, which is that of a narrow screen too.
    studio.append(h('div', { class: 'studio' },
      h('section', { class: 'card bare', 'aria-label': t('show.program') }, parts.picture.element),
      h('div', { class: 'studio-side' }, scenes.next, parts.talkback?.element, parts.hosts.element,
        parts.members.element),
      scenes.element, parts.layout.element, parts.overlays.element));
    outputs.append(parts.outputs.element);
    audience.live.append(parts.figures.element, parts.history.element, parts.downloads);
  }

  async function refresh() {
    try {
      show = await ask('GET', base);
      if (isClosed) return;
      setShown(missing, false);
    } catch (error) {
      if (error instanceof APIError && error.status === 404) setShown(missing, true);
      throw error;
    }
    const { current, next } = show;
    setText(title, show.title || name);
    document.title = t('page.title', { name: show.title || name });
    const [tone, words] = stateOf(show);
    state.className = `badge ${tone}`;
    setText(state, words);
    const wasLive = Boolean(current?.went_live_at);
    offer(open, !current);
    offer(goLive, current?.state !== 'live' && !wasLive);
    offer(comeBack, current?.state === 'backstage' && wasLive);
    offer(pause, current?.state === 'live');
    offer(end, Boolean(current));
    offer(record, Boolean(current));
    isShown = true;
    setShown(closed, !current);
    setText(closed, next?.planned_at
      ? t('show.planned', { time: timeIn(show.time_zone, Date.parse(next.planned_at)), duration: duration(show.opens_before) })
      : t('show.notPlanned'));
    follow(current?.room_sid ?? null);
    tickets?.update(show);
    for (const part of [seats, settings, program, mix, episodes, audience, recordings, scenes, look]) part.update(show);
    files.update(usesOf(show, onAir));
    parts?.hosts.equip({ seats: show.seats });
    if (current) {
      const recording = await ask('GET', `/v1/rooms/${encodeURIComponent(name)}/recording`);
      if (isClosed) return;
      isRecording = ['RECORDING_STARTING', 'RECORDING_STARTED'].includes(recording.state);
      record.classList.toggle('recording', isRecording);
      setText(record, t(isRecording ? 'show.stopRecording' : 'show.record'));
    }
  }

  const stop = poll(3, refresh, onHealth);
  const tick = setInterval(() => {
    const { current, next } = show;
    const live = current?.went_live_at ? Date.parse(current.went_live_at) : null;
    const planned = (current ?? next)?.planned_at;
    setText(clock, live ? t('common.since', { time: duration((Date.now() - live) / 1000) })
      : planned ? t(Date.parse(planned) > Date.now() ? 'show.starts' : 'show.late', { time: timeIn(show.time_zone, Date.parse(planned)) }) : '');
  }, 1000);
  return {
    element,
    restyle() {
      parts?.restyle();
      audience.restyle();
    },
    /** Shows another tab, with what is written in the others kept. */
    select,
    close() {
      isClosed = true;
      stop();
      clearInterval(tick);
      parts?.close();
      for (const part of [audience, recordings, scenes, files, tickets]) part?.close();
    },
  };
}
