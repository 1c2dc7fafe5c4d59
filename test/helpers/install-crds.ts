import { readFile } from 'node:fs/promises';
import { crdFiles, crdFolder } from '../../deploy/crd-files.ts';
import type { Kubectl } from './kubectl.ts';

/** Our own kinds, as they are deployed; they stay. */
export async function installCrds(kubectl: Kubectl): Promise<void> {
  for (const name of crdFiles().keys()) {
    const crd = await readFile(new URL(name, crdFolder), 'utf8');
    await kubectl.must(['apply', '--server-side', '--force-conflicts', '-f', '-'], crd);
    const established = ['wait', '--for=condition=Established', '--timeout=60s', '-f', '-'];
    await kubectl.must(established, crd);
  }
}
