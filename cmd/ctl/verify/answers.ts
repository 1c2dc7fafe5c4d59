import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../../core/errors.ts';
import {
  ApiError,
  collectionPath,
  definitionResource,
  liveObject,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import { openContentServer, reachableServer } from '../server/content-server.ts';
import { type Check, failed, ok, serviceResource, skipped, type VerifyContext } from './check.ts';

const denial =
  'admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec.source.image must be set for source type "image"';

const bundleSubject = 'webhook vbundles.core.rukpak.io';
const definitionSubject = 'webhook webhook.crdvalidator.io';
const see =
  'see that its process runs, and that the API server reaches the address of its configuration';

/** Checks by dry runs whether the webhooks answer. Stores nothing. */
export async function admissionChecks(context: VerifyContext): Promise<readonly Check[]> {
  return [await bundleCheck(context), await definitionCheck(context)];
}

/**
 * A Bundle that only the webhook refuses: the schema requires one block, but not that of the type.
 */
async function bundleCheck(context: VerifyContext): Promise<Check> {
  const source = { type: 'image', http: { url: 'https://example.invalid/' } };
  const answer = await dryRun(context, bundleResource, {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name: 'rukpakctl-verify' },
    spec: { provisionerClassName: 'rukpakctl-verify', source },
  });
  if (answer === undefined) {
    return failed(bundleSubject, 'is not asked: a Bundle without its source would be stored', see);
  }
  if (answer.message === denial) return ok(bundleSubject, 'answers, and refuses a bad Bundle');
  return refusalCheck(bundleSubject, answer);
}

/** A valid CRD with the label of a BundleDeployment, which the CRD validator reviews. */
async function definitionCheck(context: VerifyContext): Promise<Check> {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const answer = await dryRun(context, definitionResource, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: definitionResource.kind,
    metadata: {
      name: 'verifications.rukpakctl.example.com',
      labels: { [label.ownerKind]: 'BundleDeployment' },
    },
    spec: {
      group: 'rukpakctl.example.com',
      scope: 'Namespaced',
      names: { kind: 'Verification', plural: 'verifications' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  return answer === undefined
    ? ok(definitionSubject, 'lets a CRD of a BundleDeployment pass')
    : refusalCheck(definitionSubject, answer);
}

/** Pure. */
export function refusalCheck(subject: string, error: ApiError): Check {
  if (error.code === 404) return skipped(subject, 'cannot be tried before its CRD is there');
  return error.code === 403 && !error.message.includes('admission webhook')
    ? skipped(subject, `you lack permission to test it: ${error.message}`)
    : failed(subject, errorMessage(error), cureOf(error.message));
}

/**
 * The API server's errors about the webhook's certificate, and their remedies; for other errors it
 * cannot reach the webhook.
 */
const certificateCures: readonly (readonly [text: RegExp, cure: string])[] = [
  [
    /certificate has expired or is not yet valid/,
    'have it made again: delete the Secret with the serving certificate (the check of certificates names it), or restart "rukpak all"; the webhooks process and cert-manager renew it in time while they run, and the clocks must agree',
  ],
  [
    /certificate signed by unknown authority/,
    'the caBundle of its configuration is of another authority: the webhooks process writes it when it starts; with cert-manager see its cainjector',
  ],
  [
    /certificate is (?:valid for|not valid for any)/,
    'give the webhooks a certificate for the host of their configuration: --webhook-host of rukpak all',
  ],
];

function cureOf(message: string): string {
  return certificateCures.find(([text]) => text.test(message))?.[1] ?? see;
}

/** The refusal of a dry run; undefined when it succeeds. */
async function dryRun(
  { cluster, signal }: VerifyContext,
  resource: Resource,
  body: KubernetesObject,
): Promise<ApiError | undefined> {
  const path = `${collectionPath(resource)}?dryRun=All`;
  try {
    await cluster.client.request({ method: 'POST', path, body, signal });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const subject = 'content server';
const service = 'core';

/** Checks whether the content server answers, and refuses anonymous requests. */
export async function contentChecks(given: VerifyContext): Promise<readonly Check[]> {
  const { cluster, signal, systemNamespace: namespace } = given;
  const server = await reachableServer(cluster, given.server);
  const context = { ...given, server };
  if (server.server === undefined) {
    const target = { resource: serviceResource, key: { namespace, name: service } };
    if ((await liveObject(cluster.client, target, signal)) === undefined) {
      const message = `no Service ${service} in namespace ${namespace}: pass its URL with --server`;
      return [skipped(subject, message)];
    }
  }
  try {
    return [answerCheck(await statusForStranger(context))];
  } catch (error) {
    signal.throwIfAborted();
    const fix =
      'see that core runs, or name the server and its authority with --server and --ca-file';
    return [failed(subject, errorMessage(error), fix)];
  }
}

async function statusForStranger(context: VerifyContext): Promise<number> {
  const { cluster, server, signal, systemNamespace: namespace } = context;
  const place = { ...server, namespace, service };
  const opened = await openContentServer(cluster, place, { caller: {}, signal });
  try {
    const path = '/bundles/rukpakctl-verify.tgz';
    const { statusCode, body } = await opened.request({ method: 'GET', path, signal });
    await body.dump();
    return statusCode;
  } finally {
    await opened.close();
  }
}

function answerCheck(statusCode: number): Check {
  if (statusCode === 401) return ok(subject, 'answers, and asks strangers who they are');
  return failed(
    subject,
    `answers a stranger with HTTP status ${statusCode} instead of 401`,
    'see that it is the content server that is asked, and nothing in front of it',
  );
}
