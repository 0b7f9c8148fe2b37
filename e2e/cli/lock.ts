/** Locks a database from another process: `lock.ts <file>` prints "held", and releases the lock when its stdin ends. */
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const db = new DatabaseSync(process.argv[2] ?? '');
db.exec('BEGIN EXCLUSIVE');
process.stdout.write('held\n');
process.stdin.resume().once('end', () => {
  db.exec('ROLLBACK');
  db.close();
});
