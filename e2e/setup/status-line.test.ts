/** Tests open notifications in the status line of Claude Code: the line itself, and its place after the user's line. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { jsonAt } from '../../src/config/edit-json.ts';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { begin, selfOwner } from '../../src/inbox/index.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';
import { Home } from './home.ts';

const SETTINGS = '.claude/settings.json';
const MINE = `{ "statusLine": { "type": "command", "command": "jq -r .x # it's \\"mine\\"", "padding": 0 } }\n`;

describe('the status line', () => {
  proves('hosts:status-line');

  it.each([
    ['', /^\[ -f \S+ \] && \[ -x \S+ \] && exec \S+ \S+ statusline; [^;]* exec node \S+ statusline; echo '[^']*' >&2$/u],
    [MINE, /^i=\$\(cat\);[^]*jq -r \.x # it's "mine"\n\)[^]* statusline[^]*\)$/u],
  ])('is added after %j, and removed again', (text, command) => {
    using home = new Home('claude');
    if (text !== '') home.write(SETTINGS, text);
    const before = home.snapshot();
    expect(home.run(['install', '--yes', '--status-line'])).toMatchObject({ code: 0, stderr: '' });
    expect(jsonAt(home.read(SETTINGS), ['statusLine', 'command'])).toMatch(command);
    expect(home.run(['install', '--yes']).stdout).toContain('nothing to change');
    expect(home.run(['uninstall', '--yes'])).toMatchObject({ code: 0 });
    expect(home.snapshot()).toEqual(before);
    if (text === '') return;
    home.run(['install', '--yes', '--status-line']);
    home.write(SETTINGS, home.read(SETTINGS).replace('"padding": 0', '"padding": 1'));
    home.run(['uninstall', '--yes']);
    expect(jsonAt(home.read(SETTINGS), ['statusLine'])).toEqual({
      type: 'command',
      command: `jq -r .x # it's "mine"`,
      padding: 1,
    });
  });

  it("shows the user's own line and the open notifications, and nothing if there is neither", async () => {
    using home = new Home('claude');
    home.write(SETTINGS, JSON.stringify({ statusLine: { type: 'command', command: 'read -r all; echo "mine ${#all}" # x' } }));
    expect(home.run(['install', '--yes', '--status-line'])).toMatchObject({ code: 0 });
    const command = jsonAt(home.read(SETTINGS), ['statusLine', 'command']) as string;
    await using stage = new Stage();
    const ear = await stage.open();
    const [host, log, id] = [selfOwner(), logKey('shop', 'claude-code'), 'session-1' as ConversationId];
    await ear.bind(host, { log, conversation: id });
    await begin(ear.conversation({ log, conversation: id }, { process: host, carrier: 'hook' }));
    const input = `${JSON.stringify({ session_id: id, cwd: home.project, model: {} })}\n`;
    const shown = (): string =>
      spawnSync('sh', ['-c', command], { input, env: stage.env({ CLAUDE_PID: String(process.pid) }), encoding: 'utf8' }).stdout;
    const mine = `mine ${input.length - 1}\n`;
    expect(shown()).toBe(mine);
    await ear.queue(log, { message: 'the build ended' });
    await ear.queue(log, { message: 'the tests failed', level: 'error' });
    await ear.queue(`${log}#another`, { message: 'for another session', level: 'critical' });
    expect(shown()).toBe(`${mine}earpiece: 2 open (1 error)\n`);
    await ear.queue(log, { message: 'wait', action: 'pause', level: 'critical' });
    expect(shown()).toBe(`${mine}earpiece: 3 open (1 critical), stopped\n`);
    const env = { CLAUDE_PID: String(process.pid), EARPIECE_DB: '' };
    expect(await stage.run(['--db', stage.db, 'statusline'], { input, env })).toEqual({
      code: 0,
      stdout: 'earpiece: 3 open (1 critical), stopped\n',
      stderr: '',
    });
  });

  it.each(['-h', '--help'])('%s prints the help of the command', async (option) => {
    await using stage = new Stage();
    expect((await stage.run(['statusline', option])).stdout).toContain('earpiece install --status-line');
  });
});
