import type { KubernetesObject } from '../../../../api/meta.ts';
import { bundleDeploymentResource as resource } from '../../../../api/v1alpha1/resources.ts';
import { systemClock } from '../../../../core/platform/clock.ts';
import { type KubeClient, Reflector, type Resource } from '../../../../core/platform/kube/index.ts';
import { aBundleDeployment, anImage } from '../../../helpers/objects.ts';
import { plainFiles } from '../../../helpers/push-content.ts';
import { pushImage } from '../../../helpers/push-image.ts';
import { silentLogger } from '../../../helpers/silent-logger.ts';
import { objectsOf } from '../../scale/apps.ts';
import { inParallel } from '../../scale/in-parallel.ts';
import { insisting } from './insisting.ts';

/** Wanted state of an app. */
export interface App {
  readonly name: string;
  readonly hooked: boolean;
  /** False where it was deleted. */
  installed: boolean;
  /** Of the image's tag. */
  version: number;
  /** Content that the tag may have; several if the tag was moved meanwhile. */
  contents: readonly number[];
  /** Generation of its Deployment: one for each version since its installation. */
  generation: number;
  /** Runs of its hook since the beginning. */
  runs: number;
}

/** The share of apps that get another version in a round, and that are deleted or installed again. */
const shares = { update: 0.6, life: 0.15 };
/** One app in this many has a hook. */
const hookedEvery = 5;
/** Content under a tag that means another one elsewhere in the same round. */
const movedContent = 3;

const jobResource: Resource = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};

/** Apps that people install, update and delete all the time, some with a hook in front. */
export class Workload implements AsyncDisposable {
  readonly apps: readonly App[];
  readonly #client: KubeClient;
  readonly #registry: string;
  /** Registry in the Bundles' specs. */
  readonly #address: string;
  /** UIDs of all Jobs that were ever seen, by name. */
  /** Apps with a tag of other content. */
  readonly #moved = new Set<App>();
  readonly #jobs = new Map<string, Set<string>>();
  readonly #life = new AbortController();
  #watching: Promise<void> = Promise.resolve();

  private constructor(client: KubeClient, names: readonly string[], places: Places) {
    this.#client = client;
    this.#registry = places.registry;
    this.#address = places.address;
    this.apps = names.map((name, index) => ({
      name,
      hooked: index % hookedEvery === 0,
      installed: false,
      version: 1,
      contents: [1],
      generation: 0,
      runs: 0,
    }));
  }

  /** Installs all of them, without waiting. */
  static async start(
    client: KubeClient,
    names: readonly string[],
    places: Places,
  ): Promise<Workload> {
    const workload = new Workload(client, names, places);
    await workload.#watchJobs();
    await inParallel(workload.apps, async (app) => {
      for (const version of [1, 2]) await workload.push(app, version, version);
      await workload.#install(app)();
    });
    return workload;
  }

  /** Puts content under the tag of a version. */
  async push({ name, hooked }: App, version: number, content: number): Promise<void> {
    const objects = [...objectsOf(name, content), ...(hooked ? [aHook(name)] : [])];
    const layers = [{ files: plainFiles(objects) }];
    const tag = `v${version}`;
    await pushImage({ registry: this.#registry, repository: `chaos/${name}`, tag, layers });
  }

  /** Moves the tags of apps to other content; returns what moves them back. Apps may change meanwhile. */
  async moveTags(apps: readonly App[]): Promise<() => Promise<void>> {
    const moved = apps.map((app) => ({ app, version: app.version }));
    for (const { app } of moved) {
      this.#moved.add(app);
      app.contents = [...app.contents, movedContent];
    }
    await inParallel(moved, async ({ app, version }) => this.push(app, version, movedContent));
    return async () => {
      await inParallel(moved, async ({ app, version }) => this.push(app, version, version));
      for (const { app } of moved) this.#moved.delete(app);
    };
  }

  /** One round of user actions: updates some apps, deletes some, installs some again. */
  async change(random: () => number): Promise<void> {
    // Record the wanted state before the first request: a fault may strike between any two.
    const steps = this.apps.map((app) => this.#next(app, random()));
    await inParallel(steps, (step) => step());
  }

  /** How often an app's hook was run. */
  runsSeen(app: App): number {
    return this.#jobs.get(hookName(app.name))?.size ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error('the workload is over'));
    await this.#watching;
  }

  #next(app: App, dice: number): () => Promise<void> {
    if (!app.installed) return this.#install(app);
    if (dice < shares.life) return this.#remove(app);
    return dice < shares.life + shares.update ? this.#update(app) : async () => undefined;
  }

  #install(app: App): () => Promise<void> {
    const contents = [app.version, ...(this.#moved.has(app) ? [movedContent] : [])];
    Object.assign(app, { installed: true, contents, generation: 1 });
    if (app.hooked) app.runs += 1;
    const source = this.#sourceOf(app);
    const deployment = aBundleDeployment({ name: app.name, source }) as KubernetesObject;
    return () => insisting(() => this.#client.create(resource, deployment));
  }

  #remove(app: App): () => Promise<void> {
    app.installed = false;
    return () => insisting(() => this.#client.delete(resource, { name: app.name }));
  }

  #update(app: App): () => Promise<void> {
    const version = app.version === 1 ? 2 : 1;
    Object.assign(app, { version, contents: [version], generation: app.generation + 1 });
    if (app.hooked) app.runs += 1;
    const patch = { spec: { template: { spec: { source: this.#sourceOf(app) } } } };
    const target = { resource, key: { name: app.name } };
    return () => insisting(() => this.#client.patch(target, patch, { type: 'merge' }));
  }

  #sourceOf({ name, version }: App) {
    return anImage(`${this.#address}/chaos/${name}:v${version}`);
  }

  async #watchJobs(): Promise<void> {
    const take = ({ metadata: { name = '', uid = '' } }: KubernetesObject): void => {
      this.#jobs.set(name, (this.#jobs.get(name) ?? new Set()).add(uid));
    };
    const reflector = new Reflector({
      client: this.#client,
      resource: jobResource,
      sink: { replace: (items) => items.forEach(take), upsert: take, remove: () => undefined },
      clock: systemClock,
      logger: silentLogger,
    });
    this.#watching = reflector.run(this.#life.signal);
    await reflector.whenSynced(this.#life.signal);
  }
}

interface Places {
  /** `host:port` to push to. */
  readonly registry: string;
  /** `host:port` to pull from. */
  readonly address: string;
}

function hookName(app: string): string {
  return `${app}-before`;
}

/** A hook that runs before each version, including the first one. */
function aHook(app: string): object {
  const annotations = { 'core.rukpak.io/hook': 'pre-install,pre-upgrade' };
  const containers = [{ name: 'main', image: 'example.invalid/none:1' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: hookName(app), namespace: 'default', annotations },
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
}
