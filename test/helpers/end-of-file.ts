import { afterAll } from 'vitest';
import { ClusterClient } from './cluster-client.ts';

// Set-up of each file on a control plane: what is registered first is the last to run.
afterAll(async () => await ClusterClient.closeAll());
