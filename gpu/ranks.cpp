#include "ranks.hpp"

#include <cstdlib>

#ifdef SWIZPROOF_MPI
#include <mpi.h>
#endif

namespace swizproof::gpu {

#ifdef SWIZPROOF_MPI

namespace {

/// True if a launcher started this process as one of several.
bool launched() {
  for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

void wait(MPI_Request& request, char const* what) {
  auto const start = std::chrono::steady_clock::now();
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (std::chrono::steady_clock::now() - start > std::chrono::duration<double>(longest_wait))
      throw Failure{std::string("MPI: ") + what + ": a rank does not answer"};
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

Ranks::Ranks(int& argc, char**& argv) {
  if (!launched()) return;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &local);
  MPI_Comm_size(host, &local_count);
  MPI_Comm_free(&host);
}

Record Ranks::gather(Record mine) const {
  if (count == 1) return mine;
  MPI_Request request;
  if (rank != 0) {
    std::string const text = mine.text();
    unsigned long long const size = text.size();
    MPI_Isend(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD, &request);
    wait(request, "sending the record's size");
    MPI_Isend(text.data(), static_cast<int>(size), MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    wait(request, "sending the record");
    return mine;
  }
  for (int from = 1; from < count; ++from) {
    unsigned long long size = 0;
    MPI_Irecv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, 0, MPI_COMM_WORLD, &request);
    wait(request, "waiting for a record");
    std::string text(size, ' ');
    MPI_Irecv(text.data(), static_cast<int>(size), MPI_CHAR, from, 1, MPI_COMM_WORLD, &request);
    wait(request, "receiving a record");
    mine.merge(Record::parse(text));
  }
  return mine;
}

int Ranks::leave(int exit_code) const {
  if (!launched()) return exit_code;
  MPI_Request request;
  MPI_Ibcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  wait(request, "ending");
  MPI_Finalize();
  return exit_code;
}

int Ranks::fail(int exit_code) const {
  if (launched()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  return exit_code;
}

#else

Ranks::Ranks(int&, char**&) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr &&
      std::string(std::getenv("OMPI_COMM_WORLD_SIZE")) != "1")
    count = -1;
}
Record Ranks::gather(Record mine) const {
  if (count < 0) throw Failure{"started by mpirun, but built where MPI was not found"};
  return mine;
}
int Ranks::leave(int exit_code) const { return exit_code; }
int Ranks::fail(int exit_code) const { return exit_code; }

#endif

}  // namespace swizproof::gpu
