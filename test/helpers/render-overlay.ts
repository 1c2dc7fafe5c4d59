import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Kubectl } from './kubectl.ts';

/** The folder with the overlays and components. */
export const deployFolder = join(import.meta.dirname, '../../deploy');

/** The objects of an overlay, by its path below `deploy` or its absolute one. */
export async function renderOverlay(
  kubectl: Kubectl,
  overlay: string,
): Promise<readonly KubernetesObject[]> {
  const text = await kubectl.must(['kustomize', resolve(deployFolder, overlay)]);
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}

/** Those of an overlay with components, as somebody's own overlay has them. */
export async function renderWithComponent(
  kubectl: Kubectl,
  overlay: string,
  ...components: readonly string[]
): Promise<readonly KubernetesObject[]> {
  const own = await ownOverlay(
    join(deployFolder, 'overlays', overlay),
    ...components.map((each) => join(deployFolder, 'components', each)),
  );
  onTestFinished(() => rm(own, { recursive: true, force: true }));
  return await renderOverlay(kubectl, own);
}

/** A folder with somebody's own overlay, of one with components; the caller removes it. */
export async function ownOverlay(
  overlay: string,
  ...components: readonly string[]
): Promise<string> {
  // Outside of the checkout, which other tests make packages of.
  const own = await realpath(await mkdtemp(join(tmpdir(), 'rukpak-overlay-')));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(own, overlay)],
    components: components.map((each) => relative(own, each)),
  };
  await writeFile(join(own, 'kustomization.yaml'), JSON.stringify(kustomization));
  return own;
}
