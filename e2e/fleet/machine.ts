/**
 * Gives the host name FLEET_MACHINE to a program that preloads this file. The program then counts as a program of another
 * machine, so no process on this machine can check it.
 */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const name = process.env['FLEET_MACHINE'];
if (name !== undefined) {
  os.hostname = () => name;
  syncBuiltinESMExports();
}
