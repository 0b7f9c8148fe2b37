import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsed, type Running } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { call, ChatStage, Hold, readIn, text } from './stage.ts';

type Event = { type: string; [key: string]: unknown };

const eventsIn = (stdout: string): Event[] => parsed(stdout) as Event[];
const write = (chat: Running, input: object | string): void =>
  void chat.process.stdin.write(`${typeof input === 'string' ? input : JSON.stringify(input)}\n`);

describe('earpiece chat --json', { timeout: 90_000 }, () => {
  proves('chat:scripts');

  it('prints one event per line, and accepts texts and objects as input', async () => {
    await using stage = await ChatStage.open([
      { says: [text('I look. '), call('c1', 'run', { command: 'echo one' }), call('c2', 'tell_user', { message: 'half way' })] },
      { says: [text('One line.')] },
      { says: [text('Bye.')] },
    ]);
    const { code, stdout, stderr } = await stage.run(['chat', '--json'], {
      input: 'what does it say?\n{"type":"send","text":"thanks\\na lot"}\n',
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const events = eventsIn(stdout);
    expect(events[0]).toMatchObject({
      type: 'opened',
      model: 'openai:gpt-5',
      resumed: false,
      conversation: expect.stringMatching(/^shop\/coder#chat-/u),
    });
    expect(events.filter(({ type }) => type === 'turn_started').map(({ content }) => content)).toEqual([
      'what does it say?',
      'thanks\na lot',
    ]);
    expect(events.filter(({ type }) => type === 'turn_ended').map(({ how }) => how)).toEqual(['complete', 'complete']);
    expect(events).toContainEqual({ type: 'told', message: 'half way' });
    expect(events.find(({ type, name }) => type === 'tool_ended' && name === 'run')).toMatchObject({
      name: 'run',
      content: expect.stringMatching(/^one\n/u),
      isError: false,
    });
    expect(events.flatMap(({ type, delta }) => (type === 'text' ? [delta] : [])).join('')).toBe('I look. One line.Bye.');
  });

  it('the first event is `opened`, before the notes about its start', async () => {
    await using stage = await ChatStage.open([{ says: [text('Hi.')] }]);
    appendFileSync(join(stage.folder, 'earpiece.toml'), '[gateway.servers.x]\ncommand = "no-such-server"\n');
    const { stdout } = await stage.run(['chat', '--json'], { input: 'hello\n' });
    expect(eventsIn(stdout).slice(0, 2)).toEqual([
      expect.objectContaining({ type: 'opened' }),
      { type: 'note', message: expect.stringContaining('not trusted') as string },
    ]);
  });

  it('accepts a reply and a stop during a turn, and an order to wake', async () => {
    const [first, second] = [new Hold(), new Hold()];
    await using stage = await ChatStage.open([
      { says: [text('a long story')], at: [{ part: 0, delta: 1, do: first.stop }] },
      { says: [text('another one')], at: [{ part: 0, delta: 0, do: second.stop }] },
      { says: [text('so it was')] },
    ]);
    const chat = stage.begin(['chat', '--json']);
    write(chat, 'tell me');
    await first.reached;
    write(chat, { type: 'reply', text: 'a short one' });
    await second.reached;
    await stage.send('--id', 'n1', '--level', 'warning', 'lint is red');
    await chat.shows('"type":"waiting"');
    write(chat, { type: 'stop' });
    await chat.shows('"how":"stopped"');
    write(chat, { type: 'wake', ids: ['n1'] });
    await chat.shows('"how":"complete"');
    write(chat, { type: 'quit' });
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    const events = eventsIn(stdout);
    expect(events.filter(({ type }) => type === 'turn_started').map(({ by }) => by)).toEqual(['person', 'notification']);
    expect(events.find(({ type }) => type === 'delivered')).toMatchObject({ at: 'idle', ids: ['n1'] });
    expect(readIn(stage.model.requests[1])).toMatch(/a $[^]*a short one/mu);
    expect(readIn(stage.model.requests[2])).toContain('lint is red');
  });

  it('quiet hours hold back an error that may wake the agent, until an interrupt wakes it', async () => {
    const hour = new Date().getHours();
    const at = (hours: number): string => `${String((hour + hours + 24) % 24).padStart(2, '0')}:00`;
    await using stage = await ChatStage.open(
      [{ says: [text('I see.')] }],
      `[wake]\nerror = "auto"\nquiet = "${at(-2)}-${at(3)}"\n[coalesce]\nwindow = "0s"\n`,
    );
    await stage.says(['trust', '--yes']);
    const chat = stage.begin(['chat', '--json']);
    await chat.shows('"type":"opened"');
    await stage.send('--level', 'error', 'lint is red');
    await chat.shows('"type":"waiting"');
    await stage.send('--level', 'critical', 'the disk is full');
    await chat.shows('"how":"complete"');
    write(chat, { type: 'quit' });
    const events = eventsIn((await chat.ended).stdout);
    expect(events.filter(({ type }) => type === 'turn_started')).toHaveLength(1);
    expect(readIn(stage.model.requests[0])).toMatch(/lint is red[^]*the disk is full|the disk is full[^]*lint is red/u);
  });

  it('wake.max_per_hour counts the wakes of an earlier process, and holds back no message of a person', async () => {
    await using stage = await ChatStage.open(
      [{ says: [text('I see.')] }],
      '[wake]\nerror = "auto"\nmax_per_hour = 1\n[coalesce]\nwindow = "0s"\n',
    );
    await stage.says(['trust', '--yes']);
    const first = stage.begin(['chat', '--json']);
    await first.shows('"type":"opened"');
    await stage.send('--level', 'error', 'lint is red');
    await first.shows('"how":"complete"');
    await stage.send('--level', 'error', 'the build is red');
    await first.shows('the build is red');
    write(first, { type: 'quit' });
    const before = eventsIn((await first.ended).stdout);
    const second = stage.begin(['chat', '--json', '--resume']);
    await second.shows('the build is red');
    await stage.send('--as', 'Maria', 'what is red?');
    await second.shows('"how":"complete"');
    write(second, { type: 'quit' });
    const events = [...before, ...eventsIn((await second.ended).stdout)];
    expect(events.filter(({ type }) => type === 'turn_started')).toHaveLength(2);
    expect(readIn(stage.model.requests[1])).toMatch(/the build is red[^]*what is red|what is red[^]*the build is red/u);
  });

  it.each([
    ['{"type":"sned","text":"x"}', 'type "sned" must be one of send, reply, stop, wake, quit; did you mean send?'],
    ['{"type":"send"}', 'send needs a text that is not blank, got none'],
    ['{"type":', 'a line that begins with "{" must be JSON, got {"type":'],
    ['{"type":"wake"}', 'there is no notification to deliver'],
    ['{"type":"wake","ids":["nope"]}', 'there is no notification to deliver'],
    ['{"type":"wake","ids":[1]}', 'ids must be a list of notification ids, got [1]'],
  ])('reports the error in %s, and continues', async (line, message) => {
    await using stage = await ChatStage.open([]);
    const { code, stdout } = await stage.run(['chat', '--json'], { input: `${line}\n` });
    expect(code).toBe(0);
    expect(eventsIn(stdout).slice(1)).toEqual([{ type: 'error', message }]);
  });

  it('with --no-tools and --system, the model has no tools and reads the given system prompt', async () => {
    await using stage = await ChatStage.open([{ says: [text('Hello.')] }]);
    await stage.run(['chat', '--json', '--no-tools', '--system', 'Answer in one word.'], { input: 'hi\n' });
    expect(stage.model.requests[0]?.body['tools']).toBeUndefined();
    expect(readIn(stage.model.requests[0])).toContain('Answer in one word.');
  });
});
