import type { BundleFiles, ClusterFacts, KubernetesObject } from '../../core/sdk.ts';
import type { FileTexts } from '../content.ts';

/** What a class is tried with. A class needs one accepted content at least. */
export interface ProvisionerFixtures {
  /** Content that `bundle` accepts; for a class that serves Bundles. */
  readonly bundles?: readonly AcceptedContent[];
  /** What `configure` adapts to a deployment; for a class that has it. */
  readonly configured?: readonly ConfiguredContent[];
  /** What `deployment` makes objects of; for a class that serves BundleDeployments. */
  readonly deployments?: readonly DeploymentFixture[];
  /** What the class refuses, and in which words; absent or empty for a class that refuses nothing. */
  readonly refused?: readonly RefusedContent[];
  /** Milliseconds that one call of a handler may take (default 60000). */
  readonly timeout?: number;
}

interface Content {
  /** For the names of the tests. */
  readonly name: string;
  /** Content as its source has it; `bundleFiles` makes what a record of texts cannot say. */
  readonly files: FileTexts | BundleFiles;
}

/** Content that `bundle` accepts. */
export interface AcceptedContent extends Content {
  /** Everything that is stored, by path (default: not compared). */
  readonly stored?: FileTexts;
}

/** Content with a deployment of it. */
interface DeployedContent extends Content {
  /** spec.config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What differs from `aContext`'s cluster. */
  readonly cluster?: Partial<ClusterFacts>;
}

/** What `configure` adapts to a deployment. */
export interface ConfiguredContent extends DeployedContent {
  /** Everything that is left to be deployed, by path (default: not compared). */
  readonly adapted?: FileTexts;
}

/** What `deployment` makes objects of. */
export interface DeploymentFixture extends DeployedContent {
  /** Values of what `inputs` asks for, by `<kind>/<name>/<key>`, as `Secret/db/password`. */
  readonly inputs?: FileTexts;
  /** The very objects, in order (default: not compared). */
  readonly objects?: readonly KubernetesObject[];
}

/** Refused by the first handler that sees it: `bundle`, `inputs`, `configure`, `deployment`. */
export interface RefusedContent extends Omit<DeploymentFixture, 'objects'> {
  /** The whole message of the TerminalError, or a pattern that it matches. */
  readonly message: string | RegExp;
}
