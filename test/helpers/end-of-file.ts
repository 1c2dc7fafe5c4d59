import { afterAll } from 'vitest';
import { ClusterClient } from './cluster-client.ts';
import { RukpakInProcess } from './rukpak-run.ts';

// Set-up of each file on a control plane: the first registered hooks run last. The next file shares
// this process, and no core of this one may go on beside it.
afterAll(async () => await ClusterClient.closeAll());
afterAll(async () => await RukpakInProcess.stopAll());
