/** The only client of this page. The browser adds the cookie. */
import { createClient } from '../../../src/wire/client/index.ts';

export const client = createClient();
