#!/usr/bin/env node
import '../node-version.ts';

const { run } = await import('./program.ts');
process.exitCode = await run(process.argv.slice(2));
