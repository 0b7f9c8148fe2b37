/**
 * Watches a repository, stops in the middle of changes, and prints the events. A test starts this file as a process. The process
 * must end by itself: a watcher or timer that the source leaves running would keep the process alive.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { filesSource } from '../../src/sources/files/index.ts';
import { gitSource } from '../../src/sources/git/index.ts';
import { recorder } from './recorder.ts';

const root = process.argv[2] ?? '';
const seen = recorder();
const options = { emitter: seen, subject: 'shop/coder#main', root, debounceMs: 20, onTrouble: seen.onTrouble };
const files = filesSource({ ...options, globs: ['**'] });
const git = gitSource({ ...options, pollMs: 1_000, fetchEveryMs: 5 });

// The program stops both sources before their start, twice, and while they start.
await Promise.all([files.stop(), git.stop(), files.start(), git.start(), files.stop(), git.start(), files.start()]);
await files.noteRead('a');
writeFileSync(join(root, 'a'), 'theirs');
execFileSync('git', ['checkout', '-qb', 'theirs'], { cwd: root });
await Promise.all([seen.until('file.changed a'), seen.until('git.branch_switched theirs')]);
// No event has reported this change yet, and the stop follows at once.
rmSync(join(root, 'a'));
await Promise.all([git.stop(), files.stop(), files.stop(), git.stop()]);
await Promise.all([files.start(), git.start()]);
process.on('exit', () => console.log(JSON.stringify({ lines: seen.lines(), troubles: seen.troubles })));
void files.stop();
void git.stop();
