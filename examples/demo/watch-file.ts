// A producer: `node watch-file.ts <file>` queues a notification for each change of the file that it sees, until its stdin ends.
// The program prints a line for its parent process when it is ready and when it sees a change. A further line follows each
// attempt to queue a notification.
import { spawnSync } from 'node:child_process';
import { readFileSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { EARPIECE } from './stage.ts';

const file = process.argv[2] ?? '';
let known = content();
const look = (): void => {
  const now = content();
  // A writer may truncate the file first.
  if (now === known || now === '') return;
  known = now;
  console.log('seen');
  const sent = spawnSync(
    process.execPath,
    [EARPIECE, 'send', '--kind', 'files.changed', '--key', `file:${file}`, `\`${file}\` changed`],
    { encoding: 'utf8' },
  );
  console.log(sent.status === 0 ? `queued ${sent.stdout.trim()}` : `failed ${sent.stderr.trim()}`);
};

const watcher = watch(dirname(file), (_event, name) => name === basename(file) && look());
// Some file systems report no changes.
const timer = setInterval(look, 250);
process.stdin.resume().on('end', () => {
  watcher.close();
  clearInterval(timer);
});
console.log('ready');

function content(): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
