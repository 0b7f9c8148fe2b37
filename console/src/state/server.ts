/** The one client of this page. Its cookie goes along by itself. */
import { createClient } from '../../../src/wire/client/index.ts';

export const client = createClient();
