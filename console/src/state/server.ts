/** The one client of this page. Its cookie goes along by itself. */
import { createClient } from '../../../src/client/index.ts';

export const client = createClient();
