import { describe, expect, it, vi } from 'vitest';
import type { Request } from '../model/server.ts';
import { proves } from '../verifies.ts';
import { call, ChatStage, count, Hold, readIn, text } from './stage.ts';

/** Whether the request comes from the agent with this task. */
const isSub = (request: Request): boolean => readIn(request).includes('Another agent has given you this task');

describe('an agent that starts a sub-agent', { timeout: 120_000 }, () => {
  proves('chat:sub-agents');

  it('the last message of the sub-agent is the result; notifications for one agent never reach the other agent', async () => {
    const [hold, parentHold, awaited] = [new Hold(), new Hold(), new Hold()];
    let sub = 0;
    let parent = 0;
    await using stage = await ChatStage.open((request) => {
      if (isSub(request))
        return [
          { says: [text('I count.'), call('s1', 'run', { command: 'echo 42' })], before: hold.stop },
          // The sub-agent ends only after the parent's last request before `await`. A notification in that request would report
          // an earlier end.
          { says: [text('There are 42 of them.')], before: awaited.stop },
        ][Math.min(sub++, 1)] as never;
      return [
        { says: [call('p1', 'agent', { action: 'spawn', id: 'counter', task: 'Count the files.' })] },
        { says: [text('It counts.'), call('p2', 'run', { command: 'echo meanwhile' })], before: parentHold.stop },
        { says: [call('p3', 'await', { all: ['counter'] })], before: () => awaited.letGo() },
        { says: [text('So there are 42.')] },
      ][Math.min(parent++, 3)] as never;
    });
    const chat = stage.begin(['chat']);
    chat.process.stdin.end('how many files are there?\n');
    await hold.reached;
    await parentHold.reached;
    await stage.send('--kind', 'ci.failed', 'for the parent');
    await stage.says(['send', '--to', 'shop/coder.counter', '--kind', 'ci.failed', 'for the child']);
    hold.letGo();
    parentHold.letGo();
    const { code, stdout } = await chat.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('⚙ agent  Count the files. (in the background as counter) · running');
    expect(stdout).toMatch(/⚙ await {2}counter · [^\n]*There are 42 of them\./u);
    expect(stdout.trimEnd()).toMatch(/So there are 42\.$/u);
    expect(stdout).not.toContain('for the child');

    const [ofSub, ofParent] = [stage.model.requests.filter(isSub), stage.model.requests.filter((request) => !isSub(request))];
    expect(ofSub.length).toBeGreaterThanOrEqual(2);
    expect(count(ofSub.map(readIn).join('\n'), 'for the parent')).toBe(0);
    expect(count(ofParent.map(readIn).join('\n'), 'for the child')).toBe(0);
    expect(count(readIn(ofSub.at(-1)), 'for the child')).toBe(1);
    expect(count(readIn(ofParent.at(-1)), 'for the parent')).toBe(1);
    // The call awaited the sub-agent, so no notification is needed.
    expect(readIn(ofParent.at(-1))).not.toMatch(/tool stopped|sub_agent:/);
    expect(await stage.says(['log', 'shop/coder.counter'])).toContain('There are 42 of them.');
  });

  it('one notification reports the end of a sub-agent while its parent does something else', async () => {
    proves('sources:sub-agents');
    const hold = new Hold();
    let parent = 0;
    await using stage = await ChatStage.open((request) => {
      if (isSub(request)) return { says: [text('There are 42 of them.')] };
      return [
        { says: [call('p1', 'agent', { action: 'spawn', id: 'counter', task: 'Count the files.' })] },
        { says: [call('p2', 'run', { command: 'echo meanwhile' })], before: hold.stop },
        { says: [call('p3', 'run', { command: 'echo later' })] },
        { says: [text('So there are 42.')] },
      ][Math.min(parent++, 3)] as never;
    });
    const chat = stage.begin(['chat']);
    chat.process.stdin.end('how many files are there?\n');
    await hold.reached;
    await vi.waitFor(async () => expect(await stage.says(['log', 'shop/coder'])).toContain('subagent.complete'), {
      timeout: 30_000,
    });
    hold.letGo();
    expect((await chat.ended).code).toBe(0);
    const read = readIn(stage.model.requests.filter((request) => !isSub(request)).at(-1));
    expect(count(read, 'sub_agent: counter complete - There are 42 of them.')).toBe(1);
    expect(read).not.toContain('"counter" has stopped');
  });

  it('a sub-agent ends with the turn that started it', async () => {
    const hold = new Hold();
    await using stage = await ChatStage.open((request) =>
      isSub(request)
        ? { says: [text('I never end')], at: [{ part: 0, delta: 1, do: hold.stop }] }
        : { says: [call('p1', 'agent', { task: 'Count.' })] },
    );
    const chat = stage.begin(['chat', '--json']);
    chat.process.stdin.write('go\n');
    await hold.reached;
    chat.process.stdin.write('{"type":"stop"}\n');
    await chat.shows('"how":"stopped"');
    const sub = stage.model.requests.find(isSub);
    expect(await sub?.cutOff).toBeDefined();
    chat.process.stdin.end();
    expect(await chat.ended).toMatchObject({ code: 130 });
    expect(await stage.json(['agents'])).not.toContainEqual(expect.objectContaining({ log: 'shop/coder.agent', active: true }));
  });
});
