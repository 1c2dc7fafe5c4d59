import { createHash } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { builtInStage, isKept } from '../../apply/index.ts';
import { checkObjectSize } from '../../manifests/index.ts';
import {
  encoded,
  secretOf,
  secretsUsedBy,
  stagesOfSecrets,
  withCertificateHash,
} from './certificate-secrets.ts';
import type { CertificateState } from './certificate-state.ts';
import { type Annotations, withAnnotations, withTrust } from './trust.ts';
import type { WantedCertificate, WantedCertificates } from './wanted-certificates.ts';

interface SelfIssue {
  readonly wanted: WantedCertificates;
  /** By `<namespace>/<name>` of the Secret; where one is missing nothing is injected. */
  readonly states: ReadonlyMap<string, CertificateState>;
  readonly systemNamespace: string;
}

/** Characters of the note in pods; it only has to differ. */
const hashLength = 16;

/** The objects with the Secrets that they ask for, and trusting those. */
export function selfIssued(
  objects: readonly KubernetesObject[],
  issue: SelfIssue,
): readonly KubernetesObject[] {
  const { wanted, states } = issue;
  const stages = stagesOfSecrets(objects, issue);
  const secrets = [...wanted.secrets].map(([key, each]) =>
    withAnnotations(secretOf(each, states.get(key)), {
      ...stageAnnotation(stages.get(key)),
      ...keepFor(each),
    }),
  );
  const changed = objects.map((object) => {
    const source = wanted.holders.get(object);
    if (source === undefined) return withHash(object, issue);
    const authorities = states.get(source)?.authorities;
    const trusting = withTrust(
      object,
      authorities === undefined ? undefined : encoded(authorities),
    );
    // It is in each of its webhooks.
    checkObjectSize(trusting);
    return trusting;
  });
  return [...secrets, ...changed];
}

/** Pods whose program does not read its certificate again are made anew when it changes. */
function withHash(
  object: KubernetesObject,
  { states, systemNamespace }: SelfIssue,
): KubernetesObject {
  const namespace = object.metadata.namespace || systemNamespace;
  const certificates = secretsUsedBy(object).flatMap(
    (name) => states.get(`${namespace}/${name}`)?.serving.certificate ?? [],
  );
  if (certificates.length === 0) return object;
  const hash = createHash('sha256').update(certificates.join('')).digest('hex');
  return withCertificateHash(object, hash.slice(0, hashLength));
}

/** A Secret is in that stage already, by its kind. */
function stageAnnotation(stage: number = builtInStage.configuration): Annotations {
  return stage === builtInStage.configuration ? {} : { [annotation.stage]: String(stage) };
}

/** What outlives the deployment goes on being served. */
function keepFor({ services }: WantedCertificate): Annotations {
  return services.some(isKept) ? { [annotation.keep]: 'true' } : {};
}
