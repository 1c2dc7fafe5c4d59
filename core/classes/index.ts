export {
  createRemoteProvisioner,
  type RemoteProvisioner,
  type RemoteProvisionerOptions,
} from './http/index.ts';
export { checkedClass } from './worker/checked-class.ts';
export { fetchInWorkers } from './worker/fetch-in-workers.ts';
export { judgeInWorkers, type WorkerJudge } from './worker/judge-in-workers.ts';
export { moduleFolders } from './worker/module-folders.ts';
export { runInWorkers, type WorkerProvisioners } from './worker/run-in-workers.ts';
export {
  processesPerClass,
  runThirdParty,
  type ThirdPartyClass,
  type ThirdPartyOptions,
} from './worker/run-third-party.ts';
export { OutOfTimeError } from './worker/running-limit.ts';
export { isSmallContent } from './worker/small-content.ts';
