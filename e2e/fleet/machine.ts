/** Loaded before a program, so that it runs on another machine: a machine has another host name, and its processes cannot be checked. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const name = process.env['FLEET_MACHINE'];
if (name !== undefined) {
  os.hostname = () => name;
  syncBuiltinESMExports();
}
