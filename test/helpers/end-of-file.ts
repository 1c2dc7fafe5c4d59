import { afterAll, afterEach } from 'vitest';
import { ClusterClient } from './cluster-client.ts';
import { endFile, logsSince } from './rukpak-run.ts';

// Set-up of each file on a control plane: the first registered hooks run last. The next file shares
// this process, and no core of this one may go on beside it.
afterAll(async () => await ClusterClient.closeAll());
afterAll(async () => await endFile());

// The system may be in another process, and gone when the run has ended.
afterEach(({ task: { name, result } }) => {
  if (result?.state !== 'fail') return;
  const logs = logsSince(new Date(result.startTime ?? 0));
  if (logs !== '') console.error(`"${name}" has failed. Meanwhile the system logged:\n${logs}`);
});
