import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { bundleDeploymentResource as resource } from '../../../api/v1alpha1/resources.ts';
import type { Files } from '../../helpers/changed-copy.ts';
import { missingContent, ownedObjects } from '../../helpers/installed-content.ts';
import { conditionOf, type Kubectl } from '../../helpers/kubectl.ts';
import { aBundleDeployment, anImage } from '../../helpers/objects.ts';
import { pushImage } from '../../helpers/push-image.ts';
import { type Row, rounded } from '../report.ts';
import { type Cost, type Measured, measureCost } from '../scale/measure.ts';
import { timeUntil } from '../scale/object-watch.ts';

/** Milliseconds without a request after which a step is done. */
const quiet = 1_000;
/** Maximum milliseconds until a deployment is healthy. */
const patience = 30_000;
/** The garbage collector backs off while kinds come and go: minutes were seen. */
const removal = 600_000;

export interface Corpus extends Measured {
  readonly kubectl: Kubectl;
}

export interface Version {
  readonly name: string;
  readonly className: string;
  readonly tag: string;
  readonly files: Files;
  /** Objects of the wanted version. */
  readonly objects: readonly KubernetesObject[];
}

/** Installs or upgrades; the outcome is `ok`, or what keeps it from being healthy. */
export async function deploy(corpus: Corpus, version: Version): Promise<Row> {
  const { kube, kubectl, cluster } = corpus;
  const { name, className, tag, files, objects } = version;
  const repository = `corpus/${name}`;
  await pushImage({ registry: cluster.registry, repository, tag, layers: [{ files }] });
  const source = anImage(`${cluster.registry}/${repository}:${tag}`);
  const before = await statusOf(corpus, name);
  const watched = { client: kube.client, resource, key: { name } };
  const done = () => kubectl.apply(aBundleDeployment({ name, className, source }));
  const wanted = (object: KubernetesObject) => isHealthy(object, before?.status?.activeBundle);
  let step: Row = {};
  const cost = await measureCost(
    corpus,
    async () => {
      const signal = AbortSignal.timeout(patience);
      const found = await timeUntil(watched, { done, wanted }, signal).catch(() => undefined);
      const outcome = found === undefined ? await failureOf(corpus, name) : 'ok';
      step = { seconds: rounded((found?.milliseconds ?? patience) / 1000, 2), outcome };
    },
    quiet,
  );
  if (step['outcome'] !== 'ok') return withCost(step, cost);
  const missing = await missingContent(kubectl, objects);
  const outcome = missing.length === 0 ? 'ok' : `${missing.length} objects are not as written`;
  return withCost({ ...step, outcome }, cost);
}

/** Deletes it, and waits until all that was installed is gone. */
export async function remove(corpus: Corpus, { name, objects }: Version): Promise<Row> {
  const { kube, kubectl } = corpus;
  // Objects of a kind whose CRD is the bundle's own go with it.
  const lasting = objects.filter(({ apiVersion }) => isBuiltIn(apiVersion));
  let step: Row = {};
  const cost = await measureCost(
    corpus,
    async () => {
      const start = performance.now();
      await kube.client.delete(resource, { name }, { propagationPolicy: 'Background' });
      let left = lasting.length;
      while (left > 0 && performance.now() - start < removal) {
        left = (await ownedObjects(kubectl, name, lasting)).length;
        if (left > 0) await delay(200);
      }
      const seconds = rounded((performance.now() - start) / 1000, 2);
      step = { seconds, outcome: left === 0 ? 'ok' : `${left} objects are left` };
    },
    quiet,
  );
  return withCost(step, cost);
}

function withCost(step: Row, { requests, managerCpu, childrenCpu }: Cost): Row {
  return { ...step, requests, 'CPU ms': rounded(managerCpu + childrenCpu) };
}

function isHealthy(object: KubernetesObject, former: string | undefined): boolean {
  const { metadata, status } = object as BundleDeployment;
  if (status?.observedGeneration !== metadata.generation) return false;
  if (status?.activeBundle === undefined || status.activeBundle === former) return false;
  return ['Installed', 'Healthy'].every((type) => conditionOf(object, type)?.status === 'True');
}

async function statusOf({ kube }: Corpus, name: string): Promise<BundleDeployment | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  const [found] = (await kube.client.list(resource, { fieldSelector })).items;
  return found as BundleDeployment | undefined;
}

async function failureOf(corpus: Corpus, name: string): Promise<string> {
  const deployment = await statusOf(corpus, name);
  const failed = deployment?.status?.conditions?.find(({ status }) => status !== 'True');
  return failed === undefined ? 'no answer' : `${failed.reason}: ${failed.message}`;
}

function isBuiltIn(apiVersion: string): boolean {
  return /^(v1|apps\/v1|(rbac\.authorization|apiextensions)\.k8s\.io\/v1)$/.test(apiVersion);
}
