/** Sends a storm of events through the example subscriber of the docs, whose template does not mention unlisted events. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { verifies } from '../verifies.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/subscriber');
const STORM = 500;

const folder = mkdtempSync(join(tmpdir(), 'earpiece-storm-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

verifies(
  'bus:storms',
  'with any template, the number of unlisted events of a storm is shown, and the agent can read more of them',
  async () => {
    const subscribers = join(folder, 'config/earpiece/subscribers');
    mkdirSync(subscribers, { recursive: true });
    for (const name of ['build.toml', 'build.toon.j2']) cpSync(join(EXAMPLE, name), join(subscribers, name));
    await using ear = await openLoadedInbox({
      db: join(folder, 'earpiece.db'),
      cwd: folder,
      env: { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') },
      flags: { project: 'shop' },
    });
    const conversation = ear.conversation('shop/coder', { pulls: true });
    await Promise.all(
      Array.from({ length: STORM }, (_, n) =>
        ear.bus.emit({
          type: 'build.failed',
          source: 'ci',
          subject: 'shop/coder',
          severity: 'error',
          data: { job: `j${n}`, branch: 'main' },
        }),
      ),
    );

    let read = '';
    for (let calls = 0; (await ear.open('shop/coder')).length > 0 && calls < 50; calls++) {
      const result = { type: 'tool_call_response', id: `call_${calls}`, content: 'ok', is_error: false } as const;
      read += (await conversation.carry(result, { at: 'tool_batch_end' })).view?.text ?? '';
    }
    const listed = Array.from({ length: STORM }, (_, n) => n).filter((n) =>
      new RegExp(`\\bj${n}\\b`).test(read.replaceAll(/and \d+ more.*/g, '')),
    );
    const counted = [
      ...read.matchAll(/and (\d+) more build\.failed events, not listed here: j\d+, .* \(all of it: get_notifications\)/g),
    ];
    expect(counted).toHaveLength(1);
    expect(listed.length + Number(counted[0]?.[1])).toBe(STORM);

    const pulled = await conversation.pull({ mark: true });
    const rest = pulled.notifications.find(({ message }) => message.includes('not listed here'));
    expect(rest?.count).toBe(STORM - listed.length);
    // The message names a hundred of the keys, because its record contains no more.
    expect(rest?.message.match(/\bj\d+\b/g)).toHaveLength(100);
  },
);
