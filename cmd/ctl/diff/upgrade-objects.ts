import { randomBytes } from 'node:crypto';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import {
  type CertificateProvider,
  Certificates,
  DeploymentSeeds,
  defaultCertificates,
  readInputs,
} from '../../../core/bundle-deployment/index.ts';
import type { LeftOutObject } from '../../../core/contracts/applier.ts';
import type { Provisioner } from '../../../core/contracts/provisioner.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { withoutLeftOut } from '../../../core/manifests/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import type {
  BundleFiles,
  ClusterFacts,
  InputReference,
  JsonObject,
  KubernetesObject,
} from '../../../core/sdk.ts';
import { classNameOf, plainClass, registryClass } from '../../../provisioners/class-of-content.ts';
import helm from '../../../provisioners/helm/index.ts';
import plain from '../../../provisioners/plain/index.ts';
import registry from '../../../provisioners/registry/index.ts';
import type { Cluster } from '../cluster.ts';
import { classObjects, type RenderFacts } from '../content/class-objects.ts';
import { renderAnnotated } from '../content/render-content.ts';
import { readClusterFacts } from '../deployments/cluster-facts.ts';
import { warningLogger } from '../output/loggers.ts';

/** Classes without a handler that converts content: it need not be stored in between. */
const foreseenClasses: ReadonlySet<string> = new Set([plainClass, registryClass]);

interface UpgradeContent {
  /** With the spec.config of the upgrade. */
  readonly owner: BundleDeployment;
  readonly files: BundleFiles;
  /** Class of the bundle (default: that of the template). */
  readonly className?: string;
  /** Additional to the built-in classes. */
  readonly thirdParties: readonly Provisioner[];
  readonly certificates: CertificateProvider;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

interface UpgradeObjects {
  /** With existing certificates, but none that core would have to make. */
  readonly objects: readonly KubernetesObject[];
  readonly leftOut: readonly LeftOutObject[];
}

/**
 * The objects that core would apply for a deployment with this content.
 * @throws TerminalError with the message of the condition.
 */
export async function upgradeObjects(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  content: UpgradeContent,
): Promise<UpgradeObjects> {
  const { owner: deployment, certificates, systemNamespace, signal } = content;
  const place = installNamespaceOf(deployment, systemNamespace);
  const facts = await readClusterFacts(cluster, { systemNamespace: place, signal });
  const { objects, leftOut } = withoutLeftOut(await renderedObjects(cluster, content, facts));
  const provided = new Certificates({
    ...defaultCertificates,
    ...cluster,
    provider: certificates,
    clock: systemClock,
    events: { event: () => undefined },
    systemNamespace,
  });
  // Reads with the user's permissions, not with those of core's account.
  const { serviceAccount: _, ...spec } = deployment.spec;
  const rendered = { deployment: { ...deployment, spec }, objects, signal };
  return { objects: await provided.foresee(rendered), leftOut };
}

async function renderedObjects(
  cluster: Pick<Cluster, 'client'>,
  content: UpgradeContent,
  facts: ClusterFacts,
): Promise<readonly KubernetesObject[]> {
  const { owner: deployment, files, thirdParties } = content;
  const wanted = content.className ?? deployment.spec.template.spec.provisionerClassName;
  const { provisionerClassName: deploymentClass, config } = deployment.spec;
  const className = thirdParties.some((each) => each.className === wanted)
    ? wanted
    : classNameOf(files, wanted);
  const isForeseen = deploymentClass === plainClass && foreseenClasses.has(className);
  if (!isForeseen) return await liveObjects(cluster, { ...content, className }, facts);
  const written = className === plainClass ? undefined : config;
  return renderAnnotated(files, {
    className,
    cluster: facts,
    ...(written === undefined ? {} : { config: written as JsonObject }),
  });
}

const builtIn = `"${plain.className}", "${helm.className}"`;

/** The objects that the classes' handlers render from content, with facts of the cluster. */
async function liveObjects(
  { client }: Pick<Cluster, 'client'>,
  content: UpgradeContent & { readonly className: string },
  cluster: ClusterFacts,
): Promise<readonly KubernetesObject[]> {
  const { owner, files, className, thirdParties, systemNamespace, signal } = content;
  // Reads with the user's permissions, not with those of core's account.
  const { serviceAccount: _, ...spec } = owner.spec;
  const deployment = {
    ...owner,
    spec: {
      ...spec,
      template: {
        ...spec.template,
        spec: { ...spec.template.spec, provisionerClassName: className },
      },
    },
  };
  const classes = [plain, registry, helm, ...thirdParties];
  const deploymentClass = classNamed(classes, spec.provisionerClassName);
  if (deploymentClass === undefined) {
    throw new TerminalError(
      `BundleDeployment "${owner.metadata.name}" is of class "${spec.provisionerClassName}": only what class ${builtIn} or a module of --provisioner makes can be foreseen`,
    );
  }
  const facts = async (
    references: readonly InputReference[],
    uses: ReadonlySet<string>,
  ): Promise<RenderFacts> => ({
    inputs: await readInputs({ deployment, references }, { client, systemNamespace }, signal),
    cluster,
    ...(uses.has('seed') ? { seed: await seedOf({ client }, content) } : {}),
  });
  // Always found, because an earlier check looked the name up.
  const bundleClass = classNamed(classes, className) ?? plain;
  return await classObjects({ files, bundleClass, deploymentClass, deployment, facts, signal });
}

function classNamed(classes: readonly Provisioner[], className: string): Provisioner | undefined {
  return classes.find((each) => each.className === className);
}

/** Core's seed; creates none, because a dry run writes nothing. */
async function seedOf(
  { client }: Pick<Cluster, 'client'>,
  { owner, systemNamespace, signal }: UpgradeContent,
): Promise<Uint8Array> {
  const reader = { get: client.get.bind(client), create: refuse };
  const seeds = new DeploymentSeeds({ client: reader, systemNamespace });
  try {
    return (await seeds.seedOf(owner.metadata.name ?? '', signal)).seed;
  } catch (error) {
    const why = `cannot read Secret "rukpak-seed" of namespace "${systemNamespace}"`;
    warningLogger.warn({}, `${why}: ${errorMessage(error)}; generated values are shown as changed`);
    return randomBytes(32);
  }
}

async function refuse(): Promise<never> {
  throw new TerminalError('the deployment has none yet');
}
