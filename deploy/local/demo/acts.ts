import type { Stage } from './stage.ts';
import { systemCommand } from './system.ts';

/** One part of the demo, and the sentence about it at the end. */
export interface Act {
  readonly title: string;
  readonly seen: string;
  play(stage: Stage): Promise<void>;
}

const immutable =
  'Error from server (bundle.spec is immutable): admission webhook "vbundles.core.rukpak.io" denied the request: bundle.spec is immutable';

const kinds = 'configmaps,deployments,services,serviceaccounts';
const ours = '-l core.rukpak.io/owner-kind=BundleDeployment';

export const acts: readonly Act[] = [
  {
    title: 'Install the system and start it',
    seen: 'one command put CRDs, RBAC and webhooks into a real cluster, another ran the system against it',
    async play(stage) {
      await stage.transcript.run(
        `npm run --silent rukpak -- install --webhook-url=${stage.webhookUrl}`,
      );
      stage.transcript.note(`in the background: ${systemCommand(stage.system)}`);
      await stage.startSystem();
    },
  },
  {
    title: 'Apply a Bundle and three BundleDeployments',
    seen: 'content came from an OCI registry and from git, in plain and in registry+v1 form, and became installed and healthy',
    async play({ transcript, samples }) {
      const names = [
        'bundle',
        'bundledeployment-plain',
        'bundledeployment-registry',
        'bundledeployment-git',
      ];
      for (const name of names) await transcript.run(`kubectl apply -f ${samples}/${name}.yaml`);
      await transcript.run(
        'kubectl wait bundledeployment --all --for=condition=Healthy --timeout=60s',
      );
      await transcript.run('kubectl get bundles');
      await transcript.run('kubectl get bundledeployments');
      await transcript.run(`kubectl get ${kinds} --all-namespaces ${ours}`);
    },
  },
  {
    title: 'Try to change what a Bundle is',
    seen: 'the API server refused to change a Bundle: its content stays what it was reviewed as',
    async play({ transcript }) {
      const patch = '{"spec":{"source":{"image":{"ref":"127.0.0.1:5000/samples/other:v1"}}}}';
      await transcript.refused(
        `kubectl patch bundle hello-content --type=merge --patch='${patch}'`,
        immutable,
      );
    },
  },
  {
    title: 'Upgrade a BundleDeployment',
    seen: 'a changed template made a new Bundle; when it was healthy the old one went, and with it what the new version no longer has',
    async play({ transcript, samples }) {
      const active = "kubectl get bundledeployment hello -o jsonpath='{.status.activeBundle}'";
      const before = await transcript.run(`${active} && echo`);
      await transcript.run(`kubectl apply -f ${samples}/bundledeployment-plain-v2.yaml`);
      await transcript.until(active, {
        wanted: ({ output }) => output !== '' && output !== before.trim(),
      });
      const bundles = 'kubectl get bundles -l core.rukpak.io/owner-name=hello';
      await transcript.until(`${bundles} -o name`, {
        wanted: ({ output }) => output.trim().split('\n').length === 1,
      });
      await transcript.run(bundles);
      await transcript.run(
        'kubectl get configmap hello-settings -o jsonpath={.data.greeting} && echo',
      );
      await transcript.refused(
        'kubectl get configmap hello-motd',
        'Error from server (NotFound): configmaps "hello-motd" not found',
      );
      await transcript.run('kubectl get service hello');
    },
  },
  {
    title: 'Delete an object that a BundleDeployment installed',
    seen: 'a deleted object was back within a second',
    async play({ transcript }) {
      await transcript.run('kubectl delete configmap hello-settings');
      await transcript.until('kubectl get configmap hello-settings', {
        wanted: ({ code }) => code === 0,
        within: 5_000,
      });
      await transcript.run('kubectl get configmap hello-settings');
    },
  },
  {
    title: 'Delete everything',
    seen: 'deleting a BundleDeployment removed all that it had installed, and nothing else',
    async play({ transcript }) {
      await transcript.run('kubectl delete bundledeployments,bundles --all');
      transcript.note(
        "Kubernetes' garbage collector removes what they owned; in a new cluster it looks for new kinds every 30 s",
      );
      const left = `kubectl get ${kinds},customresourcedefinitions,clusterroles,bundles --all-namespaces ${ours} -o name`;
      await transcript.until(left, { wanted: ({ output }) => output === '' });
      await transcript.run(`kubectl get ${kinds} --all-namespaces ${ours}`);
    },
  },
];
