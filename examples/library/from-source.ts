// `node --import ./from-source.ts example.ts`: "earpiece" is the source beside it instead of the built package.
import { registerHooks } from 'node:module';

const source = new URL('../../src/index.ts', import.meta.url).href;
registerHooks({ resolve: (specifier, context, next) => next(specifier === 'earpiece' ? source : specifier, context) });
