import { randomBytes } from 'node:crypto';
import { DeploymentSeeds, readInputs } from '../../../core/bundle-deployment/index.ts';
import type { Provisioner } from '../../../core/contracts/provisioner.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { ClusterFacts, InputReference, KubernetesObject } from '../../../core/sdk.ts';
import helm from '../../../provisioners/helm/index.ts';
import plain from '../../../provisioners/plain/index.ts';
import registry from '../../../provisioners/registry/index.ts';
import { classObjects, type RenderFacts } from '../classes/class-objects.ts';
import type { Cluster } from '../cluster.ts';
import { warningLogger } from '../warning-logger.ts';
import type { UpgradeContent } from './upgrade-objects.ts';

const builtIn = `"${plain.className}", "${helm.className}"`;

/** What the handlers of the classes make of content, with what is in the cluster for them. */
export async function liveObjects(
  { client }: Pick<Cluster, 'client'>,
  content: UpgradeContent & { readonly className: string },
  cluster: ClusterFacts,
): Promise<readonly KubernetesObject[]> {
  const { owner, files, className, thirdParties, systemNamespace, signal } = content;
  // The user asks, not the account that core would use.
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
  const facts = async (references: readonly InputReference[]): Promise<RenderFacts> => ({
    inputs: await readInputs({ deployment, references }, { client, systemNamespace }, signal),
    cluster,
    ...(deploymentClass.uses?.includes('seed') === true
      ? { seed: await seedOf({ client }, content) }
      : {}),
  });
  // One of them it is: its name was looked for before.
  const bundleClass = classNamed(classes, className) ?? plain;
  return await classObjects({ files, bundleClass, deploymentClass, deployment, facts, signal });
}

function classNamed(classes: readonly Provisioner[], className: string): Provisioner | undefined {
  return classes.find((each) => each.className === className);
}

/** That of core, without making one: a dry run writes nothing. */
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
  throw new TerminalError('there is none yet');
}
