// The watch page: the program in a frame, and what a viewer may know and do.

import { setText } from '../shared/element.js';
import { decimal } from '../shared/format.js';
import { fill, t } from '../texts/watch-texts.js';
import { Admission, AdmissionForm } from './admission.js';
import { Announcement } from './announcement.js';
import { Beacon } from './beacon.js';
import { Controls } from './controls.js';
import { deviceID } from './device.js';
import { Program } from './program.js';
import { nameOf } from './renditions.js';
import { Replay } from './replay.js';
import { ServerClock } from './server-clock.js';
import { HTTPFailure, pause } from './transport.js';

const room = decodeURIComponent(location.pathname.split('/')[2] ?? '');
const query = new URLSearchParams(location.search);
const isEmbedded = query.get('embed') === '1';
const find = (id) => document.getElementById(id);

document.documentElement.classList.toggle('embedded', isEmbedded);
fill();

const video = find('video');
const clock = new ServerClock();
// Set by the gateway from its configuration: whether device ids may be used.
const takesDevices = document.querySelector('meta[name="footlight-device-ids"]').content === 'on';
const admission = new Admission(room, query.get('ticket'));
const program = new Program(video, `/live/${encodeURIComponent(room)}/index.m3u8`, deviceID(takesDevices),
  query.get('token'), admission);
const form = new AdmissionForm(find('admission'), admission, (sid) => program.admit(sid));
const controls = new Controls({ stage: find('stage'), video, program });

const beaconStates = { starting: 's', playing: 'p', paused: 'a', stalled: 'r', failed: 'f', waiting: 'e' };
let beacon = null;
const announcement = new Announcement(room, {
  title: find('room'), description: find('description'), starts: find('starts'), poster: find('poster'),
});

const replay = new Replay(find('replay'));

const latency = () => {
  const moment = program.player?.programTime ?? null;
  return moment === null ? null : Math.max(0, clock.now - moment);
};

function tell() {
  // The last slate has ended with the show: nothing more comes.
  const isOver = announcement.status?.state === 'ended' && ['stalled', 'starting', 'failed'].includes(program.state);
  const message = program.state === 'waiting' || isOver ? announcement.message
    : ['starting', 'stalled', 'failed', 'full', 'unplayable'].includes(program.state) ? t(`watch.states.${program.state}`) : '';
  setText(find('message'), message);
  // The form says why a viewer is not admitted.
  find('cover').hidden = message === '' && program.state !== 'denied';
  find('cover').dataset.state = announcement.isMissing ? 'none' : program.state;
  const isLive = ['playing', 'paused', 'stalled', 'starting'].includes(program.state);
  find('live').hidden = !isLive;
}

program.addEventListener('refusal', () => form.show(program.refusal));
program.addEventListener('state', () => {
  if (program.state !== 'denied') form.hide();
  if (program.state === 'stalled') announcement.ask();
  tell();
  controls.update();
  if (program.state === 'starting' && !beacon && program.sid) {
    beacon = new Beacon('/v1/cmcd', room, () => ({
      sid: program.sid,
      bitrate: program.variant?.bandwidth ?? 0,
      buffer: program.player?.buffered ?? 0,
      latency: latency(),
      isLowLatency: program.player?.isLowLatency ?? false,
    }));
  }
  const state = beaconStates[program.state];
  if (state) beacon?.changed(state);
});

function showFigures() {
  const delay = latency();
  const isPlaying = program.state === 'playing';
  setText(find('latency'), isPlaying && delay !== null ? t('watch.behind', { seconds: decimal(delay / 1000, 1) }) : '');
  const { videoWidth, videoHeight } = video;
  const name = nameOf(program.variant);
  const size = videoWidth ? `${videoWidth}×${videoHeight}` : '';
  setText(find('quality'), isPlaying ? [size || name, bits(program.variant)].filter(Boolean).join(' · ') : '');
}

function bits(variant) {
  const rate = variant?.averageBandwidth || variant?.bandwidth;
  return rate ? `${decimal(rate / 1e6, 1)} Mb/s` : '';
}

/** Asks who is admitted before there is a program, so that a viewer may enter while it waits. */
async function askForAdmission() {
  try {
    program.admit(await admission.enter());
  } catch (error) {
    if (error instanceof HTTPFailure) program.deny(error);
  }
}

async function followAudience() {
  for (;;) {
    const sent = Date.now();
    try {
      const session = program.sid ? `?sid=${program.sid}` : '';
      const answer = await fetch(`/watch/${encodeURIComponent(room)}/status${session}`, {
        signal: AbortSignal.timeout(5000),
      });
      if (answer.ok) {
        const { viewers, now } = await answer.json();
        clock.note(sent, Date.now(), now);
        if (viewers === undefined && program.state === 'waiting') await askForAdmission();
        setText(find('audience'), viewers ? t('watch.watching', { count: viewers }) : '');
      }
      tell();
    } catch {
      // The next answer tells more.
    }
    // The viewer count is not updated while the page is hidden.
    await pause((document.hidden ? 40 : 8) + Math.random() * 4);
  }
}

addEventListener('pagehide', () => beacon?.leave());
setInterval(showFigures, 500);
// The countdown goes on while there is nothing to play.
setInterval(() => program.state === 'waiting' && tell(), 500);
announcement.addEventListener('change', () => {
  tell();
  replay.update(announcement.status ?? {});
});
tell();
followAudience();
// What a test or a curious viewer may look at.
globalThis.footlight = { program, clock, latency };
