import { afterAll } from 'vitest';
import { ClusterClient } from './cluster-client.ts';

// Set-up of each file on a control plane: the first registered hook runs last.
afterAll(async () => await ClusterClient.closeAll());
