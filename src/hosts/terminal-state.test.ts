import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { logKey, type ConversationId } from '../core/address.ts';
import { noteState, stateIn } from './terminal-state.ts';

describe('the file with which a hook reports the state of its agent to an Earpiece terminal', () => {
  proves('hosts:hook-trouble');
  const of = { log: logKey('shop', 'coder'), id: 'a' as ConversationId };
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'earpiece-terminal-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is created, and replaced by the next report', () => {
    const file = join(folder, 'state');
    noteState(file, { kind: 'prompt' }, false, of);
    expect(stateIn(file)?.state).toBe('busy');
    noteState(file, { kind: 'session_end' }, false, of);
    expect(stateIn(file)?.state).toBe('over');
  });

  it('replaces no other file, link or device', () => {
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'mine');
    const link = join(folder, 'link');
    symlinkSync('/dev/full', link);
    for (const path of [text, link]) noteState(path, { kind: 'prompt' }, false, of);
    expect(readFileSync(text, 'utf8')).toBe('mine');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});
