// Reading and building solids, against Assimp reading the same file and joining identical vertices.
//
// Each measurement runs in a process of its own, so that the peak memory is that of the call; the best of
// three times counts.  abut does more than Assimp here: it welds, checks that the mesh is a solid, finds
// planes and maximal faces, and computes mass properties.
#include "abut/abut.h"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

struct measurement {
    double seconds = 0;
    double peak_bytes = 0;
    long long faces = 0;
};

double now() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

long long read_and_build(const char *path) {
    abut_solid *solid = nullptr;
    abut_error error = {};
    if (abut_solid_load(nullptr, path, nullptr, &solid, &error) != ABUT_OK) {
        std::fprintf(stderr, "%s: %s\n", path, error.message);
        return -1;
    }
    long long faces = abut_solid_facts_of(solid).faces;
    abut_solid_free(nullptr, solid);
    return faces;
}

long long read_only(const char *path) {
    abut_mesh *mesh = nullptr;
    if (abut_mesh_load(nullptr, path, &mesh, nullptr) != ABUT_OK) return -1;
    long long faces = mesh->face_count;
    abut_mesh_free(nullptr, mesh);
    return faces;
}

long long read_with_assimp(const char *path) {
    const aiScene *scene = aiImportFile(path, aiProcess_JoinIdenticalVertices);
    if (!scene) return -1;
    long long faces = 0;
    for (unsigned i = 0; i < scene->mNumMeshes; i++) faces += scene->mMeshes[i]->mNumFaces;
    aiReleaseImport(scene);
    return faces;
}

// One call in a child; time and peak come back through a pipe.
measurement measure_once(long long (*call)(const char *), const char *path) {
    int ends[2];
    measurement result;
    if (pipe(ends) != 0) std::abort();
    pid_t child = fork();
    if (child == 0) {
        double start = now();
        result.faces = call(path);
        result.seconds = now() - start;
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        result.peak_bytes = 1024.0 * double(usage.ru_maxrss);
        bool sent = write(ends[1], &result, sizeof result) == ssize_t(sizeof result);
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != ssize_t(sizeof result)) result.faces = -1;
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return result;
}

measurement measure(long long (*call)(const char *), const std::string &path, int repeats = 3) {
    measurement best = measure_once(call, path.c_str());
    for (int i = 1; i < repeats; i++) {
        measurement again = measure_once(call, path.c_str());
        if (again.seconds < best.seconds) best = again;
    }
    return best;
}

// A torus with bumps, so that hardly two triangles are coplanar: 2 n m triangles as a binary STL.
void write_torus(const std::string &path, int n, int m) {
    const double turn = 6.283185307179586;
    auto point = [&](int i, int j, float p[3]) {
        double a = turn * (i % n) / n, b = turn * (j % m) / m;
        double r = 1 + 0.05 * std::sin(9 * a) * std::cos(7 * b);
        p[0] = float((3 + r * std::cos(b)) * std::cos(a));
        p[1] = float((3 + r * std::cos(b)) * std::sin(a));
        p[2] = float(r * std::sin(b));
    };
    FILE *file = std::fopen(path.c_str(), "wb");
    if (!file) std::abort();
    char header[80] = "bumpy torus";
    uint32_t count = 2u * uint32_t(n) * uint32_t(m);
    std::fwrite(header, 1, sizeof header, file);
    std::fwrite(&count, 4, 1, file);
    auto triangle = [&](const float a[3], const float b[3], const float c[3]) {
        char record[50] = {};
        std::memcpy(record + 12, a, 12), std::memcpy(record + 24, b, 12), std::memcpy(record + 36, c, 12);
        std::fwrite(record, 1, sizeof record, file);
    };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float p[4][3];
            point(i, j, p[0]), point(i + 1, j, p[1]), point(i + 1, j + 1, p[2]), point(i, j + 1, p[3]);
            triangle(p[0], p[1], p[2]);
            triangle(p[0], p[2], p[3]);
        }
    std::fclose(file);
}

bool compare(const char *name, const std::string &path) {
    measurement peer = measure(read_with_assimp, path), ours = measure(read_and_build, path),
                reading = measure(read_only, path);
    if (ours.faces <= 0 || peer.faces <= 0) {
        std::printf("%-28s could not be read\n", name);
        return false;
    }
    std::printf("%-28s %9lld %9.0f %9.0f %9.0f %8.2f %8.0f %8.0f\n", name, ours.faces, 1e3 * peer.seconds,
                1e3 * ours.seconds, 1e3 * reading.seconds, ours.seconds / peer.seconds,
                ours.peak_bytes / double(ours.faces), peer.peak_bytes / double(peer.faces));
    return ours.seconds <= peer.seconds;
}

// Slope of log time over log n, least squares.
double growth(const std::vector<double> &n, const std::vector<double> &t) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0, k = double(n.size());
    for (size_t i = 0; i < n.size(); i++) {
        double x = std::log(n[i]), y = std::log(t[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (k * sxy - sx * sy) / (k * sxx - sx * sx);
}

} // namespace

int main(int argc, char **argv) {
    char folder[] = "/tmp/abut_bench_XXXXXX";
    if (!mkdtemp(folder)) return 1;
    std::string koala = argc > 1 ? argv[1] : ABUT_SHARED "/meshes/real/koala.obj";
    const int sizes[4][2] = {{500, 125}, {500, 250}, {1000, 250}, {1000, 500}};
    std::vector<std::string> files;
    for (auto &size : sizes) {
        files.push_back(std::string(folder) + "/torus" + std::to_string(2 * size[0] * size[1]) + ".stl");
        write_torus(files.back(), size[0], size[1]);
    }
    std::printf(
        "reading and building, best of 3; Assimp joins identical vertices\n\n%-28s %9s %9s %9s %9s %8s %8s "
        "%8s\n",
        "file", "faces", "Assimp ms", "abut ms", "reading", "ratio", "B/face", "Assimp");
    bool fine = compare("binary STL, 1,000,000", files.back());
    struct stat facts;
    if (stat(koala.c_str(), &facts) == 0) fine &= compare("koala.obj", koala);
    std::vector<double> n, t;
    std::printf("\n%-28s %9s %9s %8s\n", "growth", "faces", "abut ms", "B/face");
    for (auto &file : files) {
        measurement m = measure(read_and_build, file);
        n.push_back(double(m.faces)), t.push_back(m.seconds);
        std::printf("%-28s %9lld %9.0f %8.0f\n", "", m.faces, 1e3 * m.seconds,
                    m.peak_bytes / double(m.faces));
        fine &= m.peak_bytes / double(m.faces) < 600;
    }
    double exponent = growth(n, t);
    fine &= exponent < 1.15;
    std::printf("\ntime grows with n^%.3f (below 1.15 wanted)\n%s\n", exponent,
                fine ? "not slower than Assimp, below 600 bytes a face" : "SLOWER OR LARGER THAN PROMISED");
    for (auto &file : files) std::remove(file.c_str());
    rmdir(folder);
    return fine ? 0 : 1;
}
