import { readFile } from 'node:fs/promises';
import { crdFiles, crdFolder } from '../../deploy/crd-files.ts';
import { eventually } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';

/** Our own kinds, as they are deployed and served; they stay. */
export async function installCrds(kubectl: Kubectl): Promise<void> {
  for (const name of crdFiles().keys()) {
    const crd = await readFile(new URL(name, crdFolder), 'utf8');
    await kubectl.must(['apply', '--server-side', '--force-conflicts', '-f', '-'], crd);
    const established = ['wait', '--for=condition=Established', '--timeout=180s', '-f', '-'];
    await kubectl.must(established, crd);
  }
  // What is established is known to discovery, and served, a moment later.
  await eventually(async () => await kubectl.must(['get', 'bundles,bundledeployments']));
}
