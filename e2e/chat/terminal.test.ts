import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { call, ChatStage, count, Hold, readIn, text } from './stage.ts';

const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

describe('earpiece chat in a terminal', { timeout: 120_000 }, () => {
  proves('chat:pending', 'chat:interrupt', 'chat:safe');

  it('shows a waiting notification until its delivery, and then its carrier', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text('I look.'), call('c1', 'run', { command: 'echo one' })], at: [{ part: 0, delta: 'end', do: hold.stop }] },
      { says: [text('I have heard.')] },
    ]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type(`go${ENTER}`);
    await hold.reached;
    await stage.send('--kind', 'ci.failed', '--level', 'error', 'lint is red');
    await chat.shows(/┆ ▲ error ci\.failed, unnamed │ lint is red +waits [\d.]+ s\n\n● .*Ctrl\+C interrupts\n›/u);
    hold.letGo();
    await chat.shows('I have heard.');
    await chat.until((all) => !all.includes('Ctrl+C interrupts\n') && !all.includes('┆'));
    await chat.shows(
      /› go\n\nI look\.\n\n⚙ run {2}echo one · one\n┃ ▲ error ci\.failed, unnamed │ lint is red\n┃ {3}delivered with ⚙ run · [\d.]+ s after it was queued · \/show 1\n\nI have heard\.\n\n›$/u,
    );
    chat.type(CTRL_D);
    expect(await chat.ended).toBe(0);
    expect(chat.all).toMatch(/\n\nearpiece chat --resume chat-\d{8}-\d{6} continues this conversation$/u);
  });

  it('Ctrl+C in a turn offers to continue, to reply or to stop', async () => {
    const [first, second] = [new Hold(), new Hold()];
    await using stage = await ChatStage.open([
      { says: [text('a long story')], at: [{ part: 0, delta: 2, do: first.stop }] },
      { says: [text('another story')], at: [{ part: 0, delta: 1, do: second.stop }] },
      { says: [text('never')] },
    ]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type(`tell me${ENTER}`);
    await first.reached;
    await chat.shows('a long');
    chat.type(CTRL_C);
    await chat.shows(' s  stop    r  reply    c  continue');
    chat.type('c');
    await chat.until((all) => !all.includes('continue'));
    chat.type(CTRL_C);
    await chat.shows('continue');
    chat.type('r');
    await chat.shows('reply ›');
    chat.type(`a short one${ENTER}`);
    await second.reached;
    await chat.shows('another');
    await chat.shows(/› tell me\n\na long\n\n› a short one\n\nanother\n/u);
    expect(readIn(stage.model.requests[1])).toMatch(/a long $[^]*a short one/mu);
    chat.type('the next message');
    chat.type(ENTER);
    await chat.shows('› the next message · waits for its turn');
    chat.type(CTRL_C);
    await chat.shows('continue');
    chat.type('s');
    await chat.shows('■ stopped');
    // The prompt contains the messages that were not sent, so that the person can send them.
    await chat.shows(/\n› the next message$/u);
    expect(stage.model.requests).toHaveLength(2);
  });

  it('Ctrl+C twice stops the turn, and a third Ctrl+C quits', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([{ says: [text('a long story')], at: [{ part: 0, delta: 2, do: hold.stop }] }]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type(`tell me${ENTER}`);
    await hold.reached;
    await chat.shows('a long');
    chat.type(CTRL_C);
    await chat.shows('continue');
    chat.type(CTRL_C);
    await chat.shows('■ stopped');
    chat.type('half a line');
    await chat.shows('› half a line');
    chat.type(CTRL_C);
    await chat.until((all) => !all.includes('half a line'));
    chat.type(CTRL_C);
    expect(await chat.ended).toBe(0);
  });

  it('a critical notification interrupts the answer', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text('a long story')], at: [{ part: 0, delta: 2, do: hold.stop }] },
      { says: [text('I stop here.')] },
    ]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type(`tell me${ENTER}`);
    await hold.reached;
    await stage.send('--level', 'critical', '--as', 'Maria', 'the disk is full');
    await chat.shows('I stop here.');
    await chat.shows(
      /a long\n\n┃ ■ critical user\.message, person Maria │ the disk is full\n┃ {3}interrupted · [\d.]+ s after it was queued · \/show \d+\n\nI stop here\./u,
    );
    expect(count(readIn(stage.model.requests[1]), 'the disk is full')).toBe(1);
  });

  it('asks the person before an idle agent is woken', async () => {
    await using stage = await ChatStage.open([{ says: [text('I know it now.')] }]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    await stage.send('--kind', 'ci.failed', '--level', 'error', 'lint is red');
    await chat.shows(/┆ ▲ error ci\.failed, unnamed │ lint is red .*\nwake the agent\? \[y\/N\] ›/u);
    chat.type(`n${ENTER}`);
    await chat.shows('The agent stays idle; /wake begins a turn.');
    await stage.send('--kind', 'ci.broken', '--level', 'error', 'so is the build');
    await chat.shows(/so is the build .*\nwake the agent\? \[y\/N\] ›/u);
    chat.type(`y${ENTER}`);
    await chat.shows('I know it now.');
    await chat.shows(
      /This turn is about new notifications:\n┃ ▲ error ci\.failed, unnamed │ lint is red\n┃ ▲ error ci\.broken, unnamed │ so is the build\n┃ {3}woke the agent · the oldest [\d.]+ s after it was queued · \/show \d+\n/u,
    );
  });

  it('shows long texts shortened, and whole on request; no text can control the terminal', async () => {
    const hostile = '\u001b[2J\u001b]0;owned\u0007';
    await using stage = await ChatStage.open([
      {
        says: [
          { kind: 'reasoning', text: 'I think about it.' },
          text(`see${hostile}`),
          call('c1', 'run', { command: "printf 'a\\033[2Jb\\nsecond\\n'" }),
        ],
      },
      { says: [text('Done.')] },
    ]);
    await stage.send('--kind', 'ci.failed', 'line 1\nline 2\nline 3\nline 4');
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    chat.type(`go${ENTER}`);
    await chat.shows('Done.');
    expect(chat.text).toMatch(/┃ ○ info ci\.failed, unnamed │ line 1\n┃ │ line 2\n┃ │ line 3\n┃ {3}… \/show 1\n/u);
    expect(chat.text).toMatch(/∴ thought for [\d.]+ s … \/show 2\n/u);
    expect(chat.text).toContain('see�[2J�]0;owned�');
    expect(chat.text).toMatch(/⚙ run {2}printf .* · a�?\[?2?J?b … \/show 3\n/u);
    chat.type(`/show 2${ENTER}`);
    await chat.shows('2 · thoughts\n  │ I think about it.');
    chat.type(`/show 1${ENTER}`);
    await chat.shows(/1 · the whole notification, as it was sent\n[^]*line 4/u);
  });

  it('keeps its place when the terminal is resized, and has the editing keys of a shell', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open([
      { says: [text(`${'word '.repeat(60)}end`)], at: [{ part: 0, delta: 40, do: hold.stop }] },
    ]);
    const chat = await stage.terminal(['chat'], { columns: 90, rows: 24 });
    await chat.shows('›');
    chat.type('one two three');
    chat.type('\u0017\u0001zero \u0005four\u001b[D\u001b[D\u007f');
    await chat.shows('› zero one two fur');
    chat.type('\u0005\u0015');
    chat.type('\u001b[200~a pasted\nmessage\u001b[201~');
    await chat.shows('› a pasted\n  message');
    chat.type(ENTER);
    await hold.reached;
    await chat.shows('writing');
    chat.resize(50, 24);
    hold.letGo();
    await chat.shows('end\n');
    await chat.until((all) => !all.includes('Ctrl+C interrupts\n'));
    await chat.until((all) => count(all.replaceAll(/\s+/gu, ' '), 'word') === 60 && !all.includes('●'));
    chat.type('\u001b[A');
    await chat.shows(/\n› a pasted\n {2}message$/u);
    expect(readIn(stage.model.requests[0])).toContain('a pasted\nmessage');
  });

  it('shows a pause until the agent is resumed; a signal ends the program and restores the terminal', async () => {
    proves('chat:ends');
    await using stage = await ChatStage.open([{ says: [text('On I go.')] }]);
    const chat = await stage.terminal(['chat']);
    await chat.shows('›');
    await stage.send('--action', 'pause', '--as', 'Maria', 'wait');
    await chat.shows(
      /┆ . \w+ user\.message, asks to pause, person Maria │ wait .*\n\n● paused by Maria; to resume: earpiece send --to shop\/coder --action resume "…"/u,
    );
    await stage.send('--action', 'resume', 'go on');
    await chat.shows('On I go.');
    await chat.until((all) => !all.includes('paused by'));
    process.kill(chat.pid, 'SIGTERM');
    expect(await chat.ended).toBe(143);
    // The cursor is shown, and pasted text is no longer marked.
    expect(chat.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(chat.raw.lastIndexOf('\u001b[?25l'));
    expect(chat.raw.lastIndexOf('\u001b[?2004l')).toBeGreaterThan(chat.raw.lastIndexOf('\u001b[?2004h'));
  });
});
