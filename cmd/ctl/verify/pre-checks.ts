import { z } from 'zod';
import { gvkOf } from '../../../api/gvk.ts';
import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  aggregatedDiscovery,
  definitionResource,
  liveObject,
  namespaceResource,
  oldestMinor,
} from '../../../core/platform/kube/index.ts';
import { everyManifest } from '../../../deploy/install-manifests.ts';
import {
  type Check,
  type Checker,
  crdNamespace,
  failed,
  ok,
  skipped,
  type VerifyContext,
  warning,
} from './check.ts';

/** Requirements of an installation, by the name of each check. */
export const preCheckers: readonly (readonly [subject: string, check: Checker])[] = [
  ['Kubernetes', kubernetesCheck],
  ['discovery', discoveryCheck],
  ['permissions', permissionChecks],
  ['namespaces', namespaceChecks],
  ['CRDs', definitionCheck],
];

const versionSchema = z.object({ gitVersion: z.string(), major: z.string(), minor: z.string() });

async function kubernetesCheck({ cluster, signal }: VerifyContext): Promise<readonly Check[]> {
  const answer = await cluster.client.request({ method: 'GET', path: '/version', signal });
  const { gitVersion, major, minor } = versionSchema.parse(answer);
  const isOld = Number(major) === 1 && Number.parseInt(minor, 10) < oldestMinor;
  return [
    isOld
      ? failed('Kubernetes', `is ${gitVersion}`, `use 1.${oldestMinor} or later`)
      : ok('Kubernetes', gitVersion),
  ];
}

async function discoveryCheck({ cluster, signal }: VerifyContext): Promise<readonly Check[]> {
  const accept = aggregatedDiscovery;
  const answer = await cluster.client.request({ method: 'GET', path: '/apis', accept, signal });
  return [
    stringAt(answer, 'kind') === 'APIGroupDiscoveryList'
      ? ok('discovery', 'the API server serves aggregated discovery')
      : failed(
          'discovery',
          'the API server, or a proxy before it, does not serve aggregated discovery',
          'enable the feature gate AggregatedDiscoveryEndpoint, or speak to the API server directly',
        ),
  ];
}

const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

type Attributes = Readonly<Record<string, string>>;

/** An installation creates its objects, and grants core the permission to install anything. */
async function permissionChecks(context: VerifyContext): Promise<readonly Check[]> {
  const refused: string[] = [];
  for (const [kind, need] of neededRights(context.systemNamespace)) {
    if (!(await isAllowed(context, need))) refused.push(kind);
  }
  const creates =
    refused.length === 0
      ? ok('permissions', 'this user may create all objects of the installation')
      : failed(
          'permissions',
          `this user may not create: ${refused.join(', ')}`,
          'install as a cluster-admin',
        );
  const everything = { verb: '*', group: '*', resource: '*' };
  const grants = (await isAllowed(context, everything))
    ? ok('privileges', 'this user may grant core the right to install anything')
    : warning(
        'privileges',
        'this user lacks permissions, and the API server lets a user grant core only permissions that the user has',
        'install as a cluster-admin, or with the overlay impersonation',
      );
  return [creates, grants];
}

/** One permission per kind. */
function neededRights(systemNamespace: string): ReadonlyMap<string, Attributes> {
  return new Map(
    everyManifest(systemNamespace).map((object) => {
      const { group, kind } = gvkOf(object);
      const { namespace } = object.metadata;
      const resource = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
      const place = namespace === undefined ? {} : { namespace };
      return [kind, { verb: 'create', group, resource, ...place }] as const;
    }),
  );
}

async function isAllowed(
  { cluster, signal }: VerifyContext,
  resourceAttributes: Attributes,
): Promise<boolean> {
  const answer = await cluster.client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    },
    signal,
  });
  return reviewSchema.parse(answer).status.allowed;
}

async function namespaceChecks(context: VerifyContext): Promise<readonly Check[]> {
  const { cluster, signal, systemNamespace } = context;
  const checks: Check[] = [];
  for (const name of [systemNamespace, crdNamespace]) {
    const target = { resource: namespaceResource, key: { name } };
    checks.push(namespaceCheck(name, await liveObject(cluster.client, target, signal)));
  }
  return checks;
}

function namespaceCheck(name: string, live: KubernetesObject | undefined): Check {
  const subject = `Namespace ${name}`;
  if (live === undefined) return ok(subject, 'the installation creates it');
  return live.metadata.deletionTimestamp === undefined
    ? ok(subject, 'exists, and is used')
    : failed(subject, 'is being deleted', 'wait until it is gone: kubectl get namespace -w');
}

const ourDefinition = 'bundledeployments.core.rukpak.io';

async function definitionCheck({ cluster, signal }: VerifyContext): Promise<readonly Check[]> {
  const target = { resource: definitionResource, key: { name: ourDefinition } };
  const live = await liveObject(cluster.client, target, signal);
  const subject = `CRD ${ourDefinition}`;
  if (live === undefined) return [ok(subject, 'the installation creates it')];
  return [
    skipped(
      subject,
      'exists: this is an upgrade (docs/howto/upgrade-from-rukpak.md for an upgrade from RukPak)',
    ),
  ];
}
