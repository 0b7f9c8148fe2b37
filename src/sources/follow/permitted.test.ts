/** Tests the refusal of a log that the user of the process may not read. The process runs without the rights of root. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('a log in a folder that this user may not open is refused with a way out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-closed-'));
  mkdirSync(join(folder, 'closed'));
  writeFileSync(join(folder, 'closed/app.log'), '');
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'closed'), 0);
  const code = `import { permittedLog } from ${JSON.stringify(join(import.meta.dirname, 'permitted.ts'))};
    try { permittedLog(${JSON.stringify(folder)}, 'closed/app.log') } catch (error) { console.log(error.message) }`;
  try {
    const says = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      cwd: folder,
      ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    });
    expect(says.trim()).toBe(
      'log "closed/app.log" is in a folder that this user may not open; name a log file that this user can read',
    );
  } finally {
    chmodSync(join(folder, 'closed'), 0o755);
    rmSync(folder, { recursive: true });
  }
});
