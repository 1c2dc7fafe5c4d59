export { type ClassHost, joinedHosts } from './class-host.ts';
export { fetchInWorkers, type WorkerSource } from './fetch-in-workers.ts';
export {
  createRemoteProvisioner,
  type RemoteProvisioner,
  type RemoteProvisionerOptions,
} from './http/remote-provisioner.ts';
export { judgeInWorkers, type WorkerJudge } from './judge-in-workers.ts';
export { handlerOf, nameClass } from './name-class.ts';
export { openClasses } from './open-classes.ts';
export { isSmallContent, runInWorkers } from './run-in-workers.ts';
export { runRemote } from './run-remote.ts';
export { processesPerClass, runThirdParty, type ThirdPartyOptions } from './run-third-party.ts';
export { OutOfTimeError } from './worker/ends.ts';
