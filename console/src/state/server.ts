/** The API client that the whole console uses. The browser adds the session cookie. */
import { createClient } from '../../../src/wire/client/index.ts';

export const client = createClient();
