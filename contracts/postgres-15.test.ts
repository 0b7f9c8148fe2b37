import { postgresContract } from './postgres.ts';

postgresContract(15);
